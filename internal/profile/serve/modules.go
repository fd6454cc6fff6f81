package serve

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/profile/firefox"
	"github.com/org/ebpf-bench-action/internal/symbol"
	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// module is a file that samples of the profile are in. No other file's code is read.
type module struct {
	path, buildID string
	origin        symbol.Origin
	// base and debugID are how the Firefox Profiler names it.
	base, debugID string
	start         time.Time // of the recording
	// functions are those with samples, by where they begin.
	functions map[uint64]function

	mu     sync.Mutex
	binary *symbol.Binary
	budget *budget.Budget // of all modules
}

type function struct {
	name       string
	start, end uint64
}

// modulesOf returns the modules of a profile, in the order of its samples.
func modulesOf(p *profile.Profile) (all []*module) {
	left := budget.New(budget.Default)
	byPath := map[string]*module{}
	seen := map[*profile.Location]bool{}
	for _, s := range p.Samples {
		for _, l := range s.Stack.Locations {
			if seen[l] {
				continue
			}
			seen[l] = true
			m := byPath[l.Module]
			if m == nil {
				m = &module{path: l.Module, buildID: l.BuildID, origin: l.Origin, base: l.Base(), debugID: firefox.BreakpadID(l.BuildID), start: p.Start, functions: map[uint64]function{}, budget: left}
				byPath[l.Module] = m
				all = append(all, m)
			}
			if l.End > l.Start {
				m.functions[l.Start] = function{l.Frames[len(l.Frames)-1].Func, l.Start, l.End}
			}
		}
	}
	return all
}

// open opens the file, once. It must be the one that was recorded.
func (m *module) open() (*symbol.Binary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.binary != nil {
		return m.binary, nil
	}
	if !strings.HasPrefix(m.path, "/") {
		return nil, fmt.Errorf("%s is not a file", m.path)
	}
	f, err := m.origin.Open(m.path)
	if err != nil {
		return nil, err
	}
	b, err := symbol.NewFile(f, m.path, m.origin, m.budget)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	var stat unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &stat)
	switch {
	case err != nil:
	case b.BuildID() != m.buildID:
		err = fmt.Errorf("%s is not the file that was recorded: its build ID is another", m.path)
	case !m.origin.Owns(f):
		err = fmt.Errorf("%s is not the file that was recorded: its owner is another", m.path)
	// Unlike the time of its content, that of its inode cannot be set.
	case m.buildID == "" && time.Unix(stat.Ctim.Unix()).After(m.start):
		err = fmt.Errorf("%s was changed since it was recorded", m.path)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	m.binary = b
	return b, nil
}

func (m *module) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.binary == nil {
		return nil
	}
	b := m.binary
	m.binary = nil
	return b.Close()
}

// maxCode bounds what is disassembled at once, in bytes.
const maxCode = 1 << 18

// disassemble returns the instructions from one address to another, and how many bytes these
// are: at most maxCode, and not more than there are.
func (m *module) disassemble(start, end uint64) (all []instruction, a architecture, size int, err error) {
	b, err := m.open()
	if err != nil {
		return nil, a, 0, err
	}
	a, ok := architectures[b.Machine()]
	if !ok {
		return nil, a, 0, fmt.Errorf("%s has code for %s, which is not disassembled", m.path, b.Machine())
	}
	code, err := b.Code(start, start+min(end-start, maxCode))
	if err != nil {
		return nil, a, 0, fmt.Errorf("%s: %w", m.path, err)
	}
	return a.disassemble(code, start, m.nameAt), a, len(code), nil
}

// nameAt returns the function at an address, and where it begins.
func (m *module) nameAt(addr uint64) (string, uint64) {
	b, err := m.open()
	if err != nil {
		return "", 0
	}
	start, _, ok := b.Extent(addr)
	frames := b.Frames(start)
	if !ok || len(frames) == 0 {
		return "", 0
	}
	return frames[len(frames)-1].Func, start
}
