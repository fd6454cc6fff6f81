package runner

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
)

// errNoSnapshot is returned for a collection with a map whose contents cannot
// be read, or cannot be written back.
var errNoSnapshot = errors.New("not all that its maps hold can be read")

// snapshot holds the contents of a collection's maps at one moment.
type snapshot struct{ maps []bpfmap.Emptier }

// maxSnapshotArray is the longest array that is read and compared entry by
// entry: reloading takes less time than reading a longer one.
const maxSnapshotArray = 4096

// takeSnapshot reads all maps of a collection that its programs can change.
func takeSnapshot(coll *ebpf.Collection) (*snapshot, error) {
	s := &snapshot{}
	for name, m := range coll.Maps {
		if m.Flags()&unix.BPF_F_RDONLY_PROG != 0 || keepsNothing(m.Type()) {
			continue
		}
		var one []bpfmap.Emptier
		var err error
		switch typ := m.Type(); {
		case typ == ebpf.Queue, typ == ebpf.Stack, (typ == ebpf.Array || typ == ebpf.PerCPUArray) && m.MaxEntries() > maxSnapshotArray:
			err = errNoSnapshot
		default:
			reset := map[string]bench.MapPrep{name: {Reset: bench.ResetSlice}}
			one, err = bpfmap.NewEmptiers(context.Background(), &ebpf.Collection{Maps: map[string]*ebpf.Map{name: m}}, reset, nil)
			if err == nil && len(one) == 0 {
				err = errNoSnapshot
			}
		}
		if err != nil {
			s.close()
			return nil, fmt.Errorf("map %s: %w", name, err)
		}
		s.maps = append(s.maps, one...)
	}
	return s, nil
}

// keepsNothing reports whether no run of a program changes maps of type t.
func keepsNothing(t ebpf.MapType) bool {
	switch t {
	case ebpf.ProgramArray, ebpf.PerfEventArray, ebpf.DevMap, ebpf.DevMapHash, ebpf.CPUMap, ebpf.XSKMap, ebpf.CGroupArray:
		return true
	}
	return false
}

// restore restores the contents of all maps.
func (s *snapshot) restore() error {
	for _, m := range s.maps {
		if err := m.Empty(context.Background()); err != nil {
			return fmt.Errorf("restore a map: %w", err)
		}
	}
	return nil
}

// close ends the snapshot; the maps stay as they are.
func (s *snapshot) close() {
	for _, m := range s.maps {
		m.Close()
	}
}

func newMap(t *testing.T, spec ebpf.MapSpec) *ebpf.Map {
	t.Helper()
	m, err := ebpf.NewMap(&spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestSnapshotRestores(t *testing.T) {
	testenv.Root(t)
	hash := newMap(t, ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: 8})
	array := newMap(t, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 2})
	perCPU := newMap(t, ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		t.Fatal(err)
	}
	each := func(v uint32) []uint32 {
		values := make([]uint32, cpus)
		for i := range values {
			values[i] = v + uint32(i)
		}
		return values
	}
	put := func(m *ebpf.Map, key uint32, value any) {
		t.Helper()
		if err := m.Put(key, value); err != nil {
			t.Fatal(err)
		}
	}
	put(hash, 1, uint32(10))
	put(hash, 2, uint32(20))
	put(array, 1, uint32(30))
	put(perCPU, 0, each(40))
	s, err := takeSnapshot(&ebpf.Collection{Maps: map[string]*ebpf.Map{"hash": hash, "array": array, "per_cpu": perCPU}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()

	put(hash, 1, uint32(11))
	put(hash, 3, uint32(33))
	if err := hash.Delete(uint32(2)); err != nil {
		t.Fatal(err)
	}
	put(array, 0, uint32(1))
	put(array, 1, uint32(1))
	put(perCPU, 0, each(1))
	if err := s.restore(); err != nil {
		t.Fatal(err)
	}

	want := func(m *ebpf.Map, key, value uint32) {
		t.Helper()
		var got uint32
		if err := m.Lookup(key, &got); err != nil || got != value {
			t.Errorf("%v holds %d (%v) at %d, want %d", m, got, err, key, value)
		}
	}
	want(hash, 1, 10)
	want(hash, 2, 20)
	want(array, 0, 0)
	want(array, 1, 30)
	var none uint32
	if err := hash.Lookup(uint32(3), &none); !errors.Is(err, ebpf.ErrKeyNotExist) {
		t.Errorf("what came since is still there: %v", err)
	}
	var values []uint32
	if err := perCPU.Lookup(uint32(0), &values); err != nil || values[cpus-1] != 40+uint32(cpus-1) {
		t.Errorf("the CPUs have %v (%v)", values, err)
	}
}
