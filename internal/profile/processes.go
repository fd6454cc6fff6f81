//go:build linux

package profile

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/profile/sideband"
	"github.com/org/ebpf-bench-action/internal/symbol"
)

// processes is what is known of the processes that are recorded.
type processes struct {
	all    bool
	wanted map[uint32]bool
	byPID  map[uint32]*process
	files  map[fileID]*module
	// roots are the root folders of containers. Profiles refer to them, and Go closes what
	// nothing refers to.
	roots map[symbol.Tree]*os.File
}

type process struct {
	name string
	// maps do not overlap, and are in the order of their addresses.
	maps []mapping
}

type mapping struct {
	sideband.Mapping
	module *module
}

type fileID struct {
	major, minor uint32
	inode        uint64
}

// module is a file that processes map.
type module struct {
	path   string
	binary *symbol.Binary // nil if there is no such file, or it cannot be read
}

func newProcesses(all bool) *processes {
	return &processes{all: all, wanted: map[uint32]bool{}, byPID: map[uint32]*process{}, files: map[fileID]*module{}, roots: map[symbol.Tree]*os.File{}}
}

func (k *processes) close() (err error) {
	for _, m := range k.files {
		if m.binary != nil {
			err = errors.Join(err, m.binary.Close())
		}
	}
	k.files = nil
	return err
}

// read reads what a process has mapped now. One that has ended has nothing.
func (k *processes) read(pid int) {
	p := &process{}
	k.byPID[uint32(pid)], k.wanted[uint32(pid)] = p, true
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
		p.name = strings.TrimSuffix(string(name), "\n")
	}
	maps, err := readMaps(pid)
	if err != nil {
		return
	}
	for _, m := range maps {
		p.maps = append(p.maps, mapping{m, k.open(uint32(pid), m)})
	}
}

// readMaps returns what a process has mapped to execute it.
func readMaps(pid int) (all []sideband.Mapping, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	maps, err := symbol.ParseMaps(f)
	for _, m := range maps {
		all = append(all, sideband.Mapping{
			Start: m.Start, End: m.End, Offset: m.Offset, Major: uint32(m.Device >> 32), Minor: uint32(m.Device), Inode: m.Inode, Path: m.Path,
		})
	}
	return all, err
}

// wants reports whether an event is of a process that is recorded. It opens the file of a
// mapping, because the process may be gone later.
func (k *processes) wants(e sideband.Event) bool {
	if e.Kind == sideband.Forked && k.wanted[e.Parent] {
		k.wanted[e.PID] = true
	}
	if !k.all && !k.wanted[e.PID] {
		return false
	}
	if e.Kind == sideband.Mapped {
		k.open(e.PID, e.Mapping)
	}
	return true
}

// apply changes what is known by an event.
func (k *processes) apply(e sideband.Event) {
	p := k.byPID[e.PID]
	if p == nil {
		p = &process{}
		k.byPID[e.PID] = p
	}
	switch e.Kind {
	case sideband.Forked:
		if parent := k.byPID[e.Parent]; parent != nil && e.PID != e.Parent {
			*p = process{parent.name, slices.Clone(parent.maps)}
		}
	case sideband.Named:
		if e.PID == e.TID {
			p.name = e.Name
		}
		if e.Exec {
			p.maps = nil
		}
	case sideband.Mapped:
		p.add(mapping{e.Mapping, k.files[idOf(e.Mapping)]})
	}
}

func (k *processes) name(pid uint32) string {
	if p := k.byPID[pid]; p != nil {
		return p.name
	}
	return ""
}

// at returns the mapping that has an address of a process.
func (k *processes) at(pid uint32, addr uint64) *mapping {
	p := k.byPID[pid]
	if p == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(p.maps, addr, func(m mapping, addr uint64) int {
		switch {
		case m.End <= addr:
			return -1
		case m.Start > addr:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &p.maps[i]
}

// unmapped reports whether a process has no code at an address. Nothing is unmapped in a
// process that is unknown.
func (k *processes) unmapped(pid uint32, addr uint64) bool {
	p := k.byPID[pid]
	return p != nil && len(p.maps) > 0 && k.at(pid, addr) == nil
}

// add adds a mapping, in the place of what it covers.
func (p *process) add(m mapping) {
	kept := make([]mapping, 0, len(p.maps)+2)
	placed := false
	for _, old := range p.maps {
		if !placed && m.Start <= old.Start {
			kept, placed = append(kept, m), true
		}
		if old.End <= m.Start || old.Start >= m.End {
			kept = append(kept, old)
			continue
		}
		if old.Start < m.Start {
			left := old
			left.End = m.Start
			kept = append(kept, left)
		}
		if !placed && old.End > m.Start {
			kept, placed = append(kept, m), true
		}
		if old.End > m.End {
			right := old
			right.Offset += m.End - old.Start
			right.Start = m.End
			kept = append(kept, right)
		}
	}
	if !placed {
		kept = append(kept, m)
	}
	p.maps = kept
}

func idOf(m sideband.Mapping) fileID { return fileID{m.Major, m.Minor, m.Inode} }

// open opens the file of a mapping, once. It is found even if it was deleted, or is in a
// container, as long as the process runs; otherwise only if it is where its path says.
func (k *processes) open(pid uint32, m sideband.Mapping) *module {
	id := idOf(m)
	if m.Inode == 0 {
		return nil
	}
	if known := k.files[id]; known != nil {
		return known
	}
	out := &module{path: m.Path}
	k.files[id] = out
	user, root := k.home(pid)
	for _, path := range []string{
		fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Start, m.End), fmt.Sprintf("/proc/%d/root%s", pid, m.Path), m.Path,
	} {
		f, err := symbol.OpenFile(path)
		if err != nil {
			continue
		}
		var stat unix.Stat_t
		if unix.Fstat(int(f.Fd()), &stat) == nil && stat.Ino == m.Inode {
			if b, err := symbol.NewFile(f, m.Path, symbol.OriginOf(f, root, user)); err == nil {
				out.binary = b
				return out
			}
		}
		_ = f.Close() // it was only read
	}
	return out
}

// home returns the user of a process and its root folder, nil if that is this process's. One
// that has ended may have been anybody's.
func (k *processes) home(pid uint32) (user uint32, root *os.File) {
	own, err := symbol.Process{PID: os.Getpid()}.Tree()
	if err != nil {
		return symbol.Nobody, nil
	}
	p, err := symbol.ReadProcess(int(pid))
	if err != nil {
		return symbol.Nobody, nil
	}
	tree, err := p.Tree()
	if err != nil {
		return symbol.Nobody, nil
	}
	root, known := k.roots[tree]
	if !known && tree != own {
		if root, err = p.OpenRoot(); err != nil {
			return symbol.Nobody, nil
		}
		k.roots[tree] = root
	}
	return p.User, root
}
