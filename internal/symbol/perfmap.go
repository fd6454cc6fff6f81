package symbol

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// PerfMap has the functions that a process compiled itself and wrote down, as many just-in-
// time compilers do if they are asked to. A nil PerfMap has none.
type PerfMap struct {
	table  *table
	budget *budget.Budget
}

// maxPerfMap bounds what is read of a perf map, in bytes. Compilers append to it, also when they
// compile again: the end is what counts.
const maxPerfMap = 128 << 20

// ReadPerfMap reads /tmp/perf-PID.map of a process, which may have ended, below its root and
// with the number that it has in its own PID namespace. It returns nil if there is none, or if
// it belongs to somebody else than the user of the process, because anybody can write to /tmp,
// or if it exceeds the budget.
func ReadPerfMap(p Process, root *Root, left *budget.Budget) *PerfMap {
	o := OfUser(root, p.User)
	f, err := o.Open(fmt.Sprintf("/tmp/perf-%d.map", p.Number))
	if err != nil {
		return nil
	}
	defer f.Close()
	if !o.Owns(f) {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	size := min(info.Size(), maxPerfMap)
	if !left.Take(uint64(size)) {
		return nil
	}
	text := make([]byte, size)
	n, _ := f.ReadAt(text, info.Size()-size) // it is as long as can be read
	if text = text[:n]; size < info.Size() {
		_, text, _ = bytes.Cut(text, []byte("\n")) // the first line may have begun before
	}
	if t := parsePerfMap(text, left); t != nil {
		return &PerfMap{t, left}
	}
	return nil
}

// Frames returns the function at an address of the process, nil if it is unknown.
func (m *PerfMap) Frames(addr uint64) []Frame {
	if m == nil {
		return nil
	}
	s := m.table.at(addr)
	if s == nil || !m.budget.Take(uint64(unsafe.Sizeof(Frame{}))+uint64(s.length)) {
		return nil
	}
	return []Frame{{Func: m.table.name(s)}}
}
