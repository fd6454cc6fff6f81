package symbol

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// PerfMap has the functions that a process compiled itself and wrote down, as many just-in-
// time compilers do if they are asked to. A nil PerfMap has none.
type PerfMap struct{ table *table }

// ReadPerfMap reads /tmp/perf-PID.map of a process, in its own mount namespace and with the
// number that it has in its own PID namespace. It returns nil if there is none, or if it
// belongs to somebody else than the process or root: anybody can write to /tmp.
func ReadPerfMap(pid int) *PerfMap {
	owner := status{inner: pid, user: uint32(os.Getuid())}
	var r root
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		owner.read(string(text))
		if dir, err := os.OpenFile(fmt.Sprintf("/proc/%d/root", pid), os.O_RDONLY|syscall.O_DIRECTORY, 0); err == nil {
			defer dir.Close()
			r.dir = dir
		}
	}
	f, err := r.open(fmt.Sprintf("/tmp/perf-%d.map", owner.inner))
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != owner.user && s.Uid != 0 {
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

// status is what names the perf map of a process, from /proc/PID/status of proc(5).
type status struct {
	inner int // its number in its own PID namespace
	user  uint32
}

func (s *status) read(text string) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "NSpid":
			if n, err := strconv.Atoi(fields[len(fields)-1]); err == nil {
				s.inner = n
			}
		case "Uid":
			if n, err := strconv.ParseUint(fields[0], 10, 32); err == nil {
				s.user = uint32(n)
			}
		}
	}
}
