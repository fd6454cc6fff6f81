package bpfmap

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Snapshot brings the maps of a collection back to what they held when it was taken, in
// about a microsecond if a run changed little.
type Snapshot struct {
	all      []*snapped
	byName   map[string]*snapped
	emptiers []Emptier
	// Kept are the names of the maps that keep what runs leave, because it cannot be
	// read, or is too much.
	Kept []string
}

// snapped is a map of a snapshot.
type snapped struct {
	name string
	m    *ebpf.Map
	// memory is that of an array whose elements were mapped, was its bytes, and now room
	// for as many.
	memory   *ebpf.Memory
	was, now []byte
	// watched says that the array is compared each time, because runs need not touch it
	// by a key, or because that is faster.
	watched bool
	// restorer restores a map that is not in memory.
	restorer *restorer
	// touched are the keys of entries that may have changed; all says that any may have.
	touched map[string]struct{}
	all     bool
}

// mostWatched bounds the arrays that are compared each time though runs touch them by
// keys alone, in bytes.
const mostWatched = 16 << 10

// ShareMemory lets user space map the arrays of a spec, before it is loaded, so that a
// snapshot restores them without a system call.
func ShareMemory(spec *ebpf.CollectionSpec) {
	for _, m := range spec.Maps {
		if m.InnerMap != nil {
			return // and its template's flags would differ from those of what it holds
		}
	}
	for _, m := range spec.Maps {
		if m.Type == ebpf.Array && m.Flags&(unix.BPF_F_RDONLY_PROG|unix.BPF_F_INNER_MAP) == 0 {
			m.Flags |= unix.BPF_F_MMAPABLE
		}
	}
}

// NewSnapshot takes a snapshot of all maps of a collection except some. Rings, queues and
// stacks are taken to be empty.
func NewSnapshot(ctx context.Context, coll *ebpf.Collection, except ...string) (s *Snapshot, err error) {
	s = &Snapshot{byName: map[string]*snapped{}}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(coll.Maps)) {
		if slices.Contains(except, name) {
			continue
		}
		err := s.add(ctx, name, coll.Maps[name])
		if errors.Is(err, errTooManyToReset) || errors.Is(err, errKeeps) {
			s.Kept = append(s.Kept, name)
			continue
		}
		if err != nil {
			return s, fmt.Errorf("prepare to restore map %s: %w", name, err)
		}
	}
	return s, nil
}

// errKeeps says that a map cannot be brought back to what it held.
var errKeeps = errors.New("it keeps what runs leave")

// add adds a map to the snapshot, unless runs cannot change it.
func (s *Snapshot) add(ctx context.Context, name string, m *ebpf.Map) error {
	can, keeps := CanReset(&ebpf.MapSpec{Type: m.Type(), Flags: m.Flags()})
	switch {
	case keeps:
		return errKeeps
	case can:
		one, err := snap(ctx, name, m)
		if one != nil {
			s.all = append(s.all, one)
			s.byName[name] = one
		}
		return err
	case m.Type() == ebpf.RingBuf:
		e, err := newRingEmptier(m)
		if err == nil {
			s.emptiers = append(s.emptiers, e)
		}
		return err
	case canEmpty(m.Type()):
		if m.ValueSize() > maxStackValue || m.Lookup(nil, make([]byte, m.ValueSize())) == nil {
			return errKeeps // it is filled already
		}
		e, err := newQueueEmptier(m)
		if err == nil {
			s.emptiers = append(s.emptiers, e)
		}
		return err
	}
	return nil
}

// snap takes a snapshot of a map whose entries can be read; it returns nil if runs cannot
// change them.
func snap(ctx context.Context, name string, m *ebpf.Map) (*snapped, error) {
	s := &snapped{name: name, m: m, touched: map[string]struct{}{}}
	if m.Type() == ebpf.Array && m.Flags()&unix.BPF_F_MMAPABLE != 0 {
		if memory, err := m.Memory(); err == nil { // else it holds what only the kernel may write
			if memory.ReadOnly() {
				return nil, nil
			}
			s.memory, s.was, s.now = memory, make([]byte, memory.Size()), make([]byte, memory.Size())
			s.watched = strings.HasPrefix(name, ".") || m.MaxEntries() == 1 || len(s.was) <= mostWatched
			_, err := memory.ReadAt(s.was, 0)
			return s, err
		}
	}
	r, err := newRestorer(ctx, m)
	if err != nil {
		return nil, err
	}
	s.restorer = r.(*restorer)
	return s, nil
}

// Touch says that the entry of a key may have changed.
func (s *Snapshot) Touch(name string, key []byte) {
	m := s.byName[name]
	switch {
	case m == nil || m.watched || m.all:
	case m.m.Type() == ebpf.LPMTrie:
		m.all = true // it need not be the entry of that key
	default:
		if _, ok := m.touched[string(key)]; !ok {
			m.touched[string(key)] = struct{}{}
		}
	}
}

// TouchAll says that any entry of a map may have changed.
func (s *Snapshot) TouchAll(name string) {
	if m := s.byName[name]; m != nil {
		m.all = true
	}
}

// Put writes an entry, which Restore takes out again. It reports whether the map takes it;
// that one of another type or one that is full does not, is no error.
func (s *Snapshot) Put(name string, e Entry) bool {
	m := s.byName[name]
	if m == nil {
		return false
	}
	s.Touch(name, e.Key)
	if m.memory == nil {
		return put(m.m, e) == nil
	}
	at, ok := m.offset(e.Key)
	if ok {
		_, err := m.memory.WriteAt(e.Value, at)
		ok = err == nil
	}
	return ok
}

// Len returns how many maps it restores or empties.
func (s *Snapshot) Len() int { return len(s.all) + len(s.emptiers) }

// Takes reports whether entries can be put into a map.
func (s *Snapshot) Takes(name string) bool { return s.byName[name] != nil }

// offset returns where an element of an array in memory begins, and whether there is one.
func (s *snapped) offset(key []byte) (int64, bool) {
	index := binary.NativeEndian.Uint32(key)
	return int64(index) * int64(s.elementSize()), index < s.m.MaxEntries()
}

// elementSize returns the size of the elements of an array in memory, in bytes.
func (s *snapped) elementSize() int { return int(s.m.ValueSize()+7) / 8 * 8 }

// Restore restores what was touched since the last time, and empties rings, queues and
// stacks.
func (s *Snapshot) Restore(ctx context.Context) error {
	for _, m := range s.all {
		if err := m.restore(ctx); err != nil {
			return fmt.Errorf("restore map %s: %w", m.name, err)
		}
	}
	for _, e := range s.emptiers {
		if err := e.Empty(ctx); err != nil {
			return fmt.Errorf("empty a map: %w", err)
		}
	}
	return nil
}

// RestoreAll restores everything, whether or not it was touched, of maps that held at most
// so many entries.
func (s *Snapshot) RestoreAll(ctx context.Context, most int) error {
	for _, m := range s.all {
		m.all = m.all || m.memory != nil && int(m.m.MaxEntries()) <= most || m.restorer != nil && len(m.restorer.held) <= most
	}
	return s.Restore(ctx)
}

func (s *snapped) restore(ctx context.Context) error {
	switch {
	case s.memory != nil && (s.watched || s.all):
		if _, err := s.memory.ReadAt(s.now, 0); err != nil {
			return err
		}
		if !bytes.Equal(s.now, s.was) {
			if _, err := s.memory.WriteAt(s.was, 0); err != nil {
				return err
			}
		}
	case s.memory != nil:
		for key := range s.touched {
			at, ok := s.offset([]byte(key))
			if !ok {
				continue
			}
			if _, err := s.memory.WriteAt(s.was[at:at+int64(s.elementSize())], at); err != nil {
				return err
			}
		}
	case s.all:
		if err := s.restorer.Empty(ctx); err != nil {
			return err
		}
	default:
		for key := range s.touched {
			if err := s.restorer.restoreKey([]byte(key)); err != nil {
				return err
			}
		}
	}
	clear(s.touched)
	s.all = false
	return nil
}

// Close frees what restores the maps.
func (s *Snapshot) Close() { closeAll(s.emptiers) }
