package symbol

import (
	"fmt"
	"io"
)

// PerfMap has the functions that a process compiled itself and wrote down, as many just-in-
// time compilers do if they are asked to. A nil PerfMap has none.
type PerfMap struct{ table *table }

// ReadPerfMap reads /tmp/perf-PID.map of a process, which may have ended, below its root and
// with the number that it has in its own PID namespace. It returns nil if there is none, or if
// it belongs to somebody else than the user of the process: anybody can write to /tmp.
func ReadPerfMap(p Process, root *Root) *PerfMap {
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
	text := make([]byte, min(info.Size(), maxPerfMap))
	n, err := io.ReadFull(f, text)
	if err != nil && n == 0 {
		return nil
	}
	return &PerfMap{parsePerfMap(text[:n])}
}

// Frames returns the function at an address of the process, nil if it is unknown.
func (m *PerfMap) Frames(addr uint64) []Frame {
	if m == nil {
		return nil
	}
	if s := m.table.at(addr); s != nil {
		return []Frame{{Func: m.table.name(s)}}
	}
	return nil
}
