package symbol

import (
	"fmt"
	"io"
	"os"
)

// PerfMap has the functions that a process compiled itself and wrote down, as many just-in-
// time compilers do if they are asked to. A nil PerfMap has none.
type PerfMap struct{ table *table }

// ReadPerfMap reads /tmp/perf-PID.map of a process, in its own mount namespace and with the
// number that it has in its own PID namespace. It returns nil if there is none, or if it
// belongs to somebody else than the user of the process: anybody can write to /tmp. A process
// that has ended is taken for one of this user.
func ReadPerfMap(pid int) *PerfMap {
	number, o := pid, OfUser(uint32(os.Getuid()))
	if p, err := ReadProcess(pid); err == nil {
		number, o = p.Number, OfUser(p.User)
		if o.root, err = p.OpenRoot(); err != nil {
			return nil
		}
		defer o.root.Close()
	}
	f, err := o.Open(fmt.Sprintf("/tmp/perf-%d.map", number))
	if err != nil {
		return nil
	}
	defer f.Close()
	if owner, known := ownerOf(f); !known || owner != o.user {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPerfMap))
	if err != nil {
		return nil
	}
	return &PerfMap{parsePerfMap(text)}
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
