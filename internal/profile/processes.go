//go:build linux

package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tidwall/btree"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/profile/sideband"
	"github.com/org/ebpf-bench-action/internal/symbol"
	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// processes is what is known of the processes that are recorded.
type processes struct {
	all    bool
	wanted map[uint32]bool
	byPID  map[uint32]*process
	files  map[moduleKey]*module
	homes  map[uint32]*home
	// roots are the root folders of containers. Profiles refer to them, and Go closes what
	// nothing refers to.
	roots map[symbol.Tree]*symbol.Root
	// budget is what the files may take of this process.
	budget   *budget.Budget
	patience *patience
	// mostOpen is how many files and roots may be open, with what each takes of it. Opened is
	// how many are, and full that there were more.
	mostOpen, opened int
	full             bool
}

// home is whose a process is, and what paths mean to it.
type home struct {
	symbol.Process
	tree symbol.Tree
	root *symbol.Root // nil if it is that of this process
	// old: it was read before the process executed another file, or is that of its parent.
	old bool
}

type process struct {
	name string
	// maps are by where they start, and do not overlap. A copy of them shares what neither
	// side changes.
	maps *btree.Map[uint64, *mapping]
}

func newProcess() *process { return &process{maps: new(btree.Map[uint64, *mapping])} }

type mapping struct {
	sideband.Mapping
	module *module
}

// moduleKey identifies a file as a process sees it: what it names is opened as its user, below
// its root.
type moduleKey struct {
	major, minor uint32
	inode        uint64
	user         uint32
	known        bool
	root         *symbol.Root
}

// module is a file that processes map.
type module struct {
	path   string
	binary *symbol.Binary // nil if there is no such file, or it cannot be read
}

func newProcesses(all bool) *processes {
	return &processes{
		all: all, wanted: map[uint32]bool{}, byPID: map[uint32]*process{}, files: map[moduleKey]*module{}, homes: map[uint32]*home{},
		roots: map[symbol.Tree]*symbol.Root{}, budget: budget.New(budget.Default), patience: newPatience(), mostOpen: mostOpen(),
	}
}

// mostOpen returns half of the files that this process may have open.
func mostOpen() int {
	limit := unix.Rlimit{Cur: 1024} // as it has been everywhere
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return int(min(limit.Cur, 1<<20) / 2)
}

// opens reports whether n more files may be open, and then counts them.
func (k *processes) opens(n int) bool {
	if k.opened+n > k.mostOpen {
		k.full = true
		return false
	}
	k.opened += n
	return true
}

// notes say what is not known.
func (k *processes) notes() (notes []bench.Note) {
	if n := len(k.patience.gone); n > 0 {
		notes = append(notes, bench.Warn("some functions have no names: of %d of the processes the kernel did not say in time what they have mapped", n))
	}
	if k.full {
		notes = append(notes, bench.Note{
			Warn: true, Text: fmt.Sprintf("some functions have no names: what ran has more files than the %d that may be open here", k.mostOpen),
			Hint: "raise the limit of open files (ulimit -n), or record fewer processes at once",
		})
	}
	return notes
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
	p := newProcess()
	k.byPID[uint32(pid)], k.wanted[uint32(pid)] = p, true
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
		p.name = strings.TrimSuffix(string(name), "\n")
	}
	maps, _ := await(k.patience, uint32(pid), func() []sideband.Mapping {
		maps, _ := readMaps(pid) // none if it has ended
		return maps
	}, func([]sideband.Mapping) {})
	for _, m := range maps {
		p.add(&mapping{m, k.open(uint32(pid), m)})
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

// event is what happened to a process, with the file of a mapping.
type event struct {
	sideband.Event
	module *module
}

// see returns an event if it is of a process that is recorded. It opens the file of a mapping,
// because the process may be gone later.
func (k *processes) see(e sideband.Event) (seen event, ok bool) {
	if e.Kind == sideband.Forked && k.wanted[e.Parent] {
		k.wanted[e.PID] = true
	}
	if e.Kind == sideband.Ended || !k.all && !k.wanted[e.PID] {
		return event{}, false
	}
	seen.Event = e
	switch {
	case e.Kind == sideband.Mapped:
		seen.module = k.open(e.PID, e.Mapping)
	case e.Kind == sideband.Named && e.Exec:
		k.moves(e.PID, e.PID)
	case e.Kind == sideband.Forked && e.PID != e.Parent:
		k.moves(e.PID, e.Parent)
	}
	return seen, true
}

// apply changes what is known by an event.
func (k *processes) apply(e event) {
	p := k.byPID[e.PID]
	if p == nil {
		p = newProcess()
		k.byPID[e.PID] = p
	}
	switch e.Kind {
	case sideband.Forked:
		if parent := k.byPID[e.Parent]; parent != nil && e.PID != e.Parent {
			*p = process{parent.name, parent.maps.Copy()}
		}
	case sideband.Named:
		if e.PID == e.TID {
			p.name = e.Name
		}
		if e.Exec {
			p.maps = new(btree.Map[uint64, *mapping])
		}
	case sideband.Mapped:
		p.add(&mapping{e.Mapping, e.module})
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
	return p.at(addr)
}

func (p *process) at(addr uint64) (m *mapping) {
	p.maps.Descend(addr, func(_ uint64, before *mapping) bool {
		if addr < before.End {
			m = before
		}
		return false
	})
	return m
}

// unmapped reports whether a process has no code at an address. Nothing is unmapped in a
// process that is unknown.
func (k *processes) unmapped(pid uint32, addr uint64) bool {
	p := k.byPID[pid]
	return p != nil && p.maps.Len() > 0 && p.at(addr) == nil
}

// add adds a mapping, in the place of what it covers.
func (p *process) add(m *mapping) {
	var covered []*mapping
	if before := p.at(m.Start); before != nil {
		covered = append(covered, before)
	}
	p.maps.Ascend(m.Start+1, func(start uint64, old *mapping) bool {
		if start >= m.End {
			return false
		}
		covered = append(covered, old)
		return true
	})
	for _, old := range covered {
		p.maps.Delete(old.Start)
		if old.Start < m.Start {
			left := *old
			left.End = m.Start
			p.maps.Set(left.Start, &left)
		}
		if old.End > m.End {
			right := *old
			right.Offset += m.End - old.Start
			right.Start = m.End
			p.maps.Set(right.Start, &right)
		}
	}
	p.maps.Set(m.Start, m)
}

// open opens the file of a mapping, once for each user and root. It is found even if it was
// deleted, as long as the process has it mapped; otherwise only if it is where its path says, and
// it is nobody's word what it names.
func (k *processes) open(pid uint32, m sideband.Mapping) *module {
	if m.Inode == 0 {
		return nil
	}
	h := k.home(pid)
	key := moduleKey{major: m.Major, minor: m.Minor, inode: m.Inode}
	if h != nil && !h.old {
		own := key
		own.user, own.root, own.known = h.User, h.root, true
		known := k.files[own]
		switch {
		case known != nil && h.remains():
			return known
		case known == nil:
			if o, _ := await(k.patience, pid, func() opened { return h.open(m) }, opened.close); o.ok {
				return k.add(own, m, o.file, symbol.OfUser(h.root, h.User))
			}
		}
	}
	if known := k.files[key]; known != nil {
		return known
	}
	f, _ := symbol.Public.Open(m.Path) // nil if it cannot be opened
	return k.add(key, m, f, symbol.Public)
}

// add adds the file of a mapping, which is nil if it is unknown.
func (k *processes) add(key moduleKey, m sideband.Mapping, f *os.File, named symbol.Origin) *module {
	out := &module{path: m.Path}
	k.files[key] = out
	if f == nil {
		return out
	}
	if is(f, m) && k.opens(1) {
		b, err := symbol.NewFile(f, m.Path, named.Of(f), k.budget)
		if err == nil {
			out.binary = b
			return out
		}
		k.opened--
	}
	_ = f.Close() // it was only read
	return out
}

// opened is the file of a mapping, nil if the user may not read it. It is not ok if the process
// does not have it mapped any more, or has become another user's: then it may not be the one
// that mapped it.
type opened struct {
	file *os.File
	ok   bool
}

func (o opened) close() {
	if o.file != nil {
		_ = o.file.Close() // it was only read
	}
}

// open opens the file of a mapping.
func (h *home) open(m sideband.Mapping) opened {
	f, err := h.OpenMapped(h.root, m.Start, m.End)
	if errors.Is(err, unix.EPERM) {
		// Without the right to open it, its path leads to it.
		if path, err := os.Readlink(fmt.Sprintf("/proc/%d/map_files/%x-%x", h.PID, m.Start, m.End)); err != nil || path != m.Path {
			return opened{}
		}
		f, err = symbol.OfUser(h.root, h.User).Open(m.Path)
	}
	if _, same := h.check(); errors.Is(err, fs.ErrNotExist) || !same || f != nil && !is(f, m) {
		opened{file: f}.close()
		return opened{}
	}
	return opened{f, true}
}

// check reports whether the process runs, and whether it is still what it was when it was read:
// to become another user's takes no other file to execute.
func (h *home) check() (runs, same bool) {
	now, err := symbol.ReadProcess(h.PID)
	if err != nil {
		return false, false
	}
	tree, err := now.Tree()
	return err == nil, now.User == h.User && slices.Equal(now.Groups, h.Groups) && tree == h.tree
}

// remains reports whether what the process maps is the word of its user. One of root's that has
// ended may have become another user's before.
func (h *home) remains() bool {
	runs, same := h.check()
	return same || !runs && h.User != 0
}

// is reports whether a file is that of a mapping. Btrfs and OverlayFS have other devices than
// the kernel says.
func is(f *os.File, m sideband.Mapping) bool {
	var stat unix.Stat_t
	var system unix.Statfs_t
	if unix.Fstat(int(f.Fd()), &stat) != nil || unix.Fstatfs(int(f.Fd()), &system) != nil || stat.Ino != m.Inode {
		return false
	}
	return unix.Major(stat.Dev) == m.Major && unix.Minor(stat.Dev) == m.Minor || system.Type == unix.BTRFS_SUPER_MAGIC || system.Type == unix.OVERLAYFS_SUPER_MAGIC
}

// home returns whose a process is, nil if that is not known.
func (k *processes) home(pid uint32) *home {
	h := k.homes[pid]
	if h != nil && !h.old {
		return h
	}
	if now, err := k.readHome(pid); err == nil {
		h = now
		k.homes[pid] = h
	}
	return h
}

func (k *processes) readHome(pid uint32) (*home, error) {
	own, err := symbol.Process{PID: os.Getpid()}.Tree()
	if err != nil {
		return nil, err
	}
	p, err := symbol.ReadProcess(int(pid))
	if err != nil {
		return nil, err
	}
	tree, err := p.Tree()
	if err != nil {
		return nil, err
	}
	root, known := k.roots[tree]
	if !known && tree != own {
		const files = 2 // of a root
		if !k.opens(files) {
			return nil, errors.New("too many files are open")
		}
		if root, err = p.OpenRoot(k.budget); err != nil {
			k.opened -= files
			return nil, err
		}
		k.roots[tree] = root
	}
	return &home{Process: p, tree: tree, root: root}, nil
}

// moves notes that a process has begun anew, as another one was: its parent, or itself before
// it executed another file. It may have another user and another root now.
func (k *processes) moves(pid, from uint32) {
	h := k.homes[from]
	switch {
	case h != nil && pid == from:
		k.homes[pid] = &home{Process: h.Process, tree: h.tree, root: h.root, old: true}
	case h != nil && h.Number == h.PID:
		k.homes[pid] = &home{Process: symbol.Process{PID: int(pid), Number: int(pid), User: h.User}, tree: h.tree, root: h.root, old: true}
	default: // in a PID namespace, its number is another
		delete(k.homes, pid)
	}
}
