package bpfmap

import (
	"context"
	"errors"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Whatever its size, a queue or stack is empty before a slice.
func TestAQueueIsEmptied(t *testing.T) {
	testenv.Root(t)
	for _, kind := range []ebpf.MapType{ebpf.Queue, ebpf.Stack} {
		for _, size := range []uint32{1, 64, 100, 127, 129} {
			m, err := ebpf.NewMap(&ebpf.MapSpec{Type: kind, ValueSize: 4, MaxEntries: size})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			e, err := newQueueEmptier(m)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			for i := range size {
				if err := m.Update(nil, i, 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Empty(t.Context()); err != nil {
				t.Fatal(err)
			}
			var value uint32
			if err := m.LookupAndDelete(nil, &value); !errors.Is(err, ebpf.ErrKeyNotExist) {
				t.Errorf("%s of %d: it still holds %d (%v)", kind, size, value, err)
			}
		}
	}
}

// Cancelling the context stops an iteration over a map.
func TestAResetEndsWithItsContext(t *testing.T) {
	testenv.Root(t)
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r, err := newRestorer(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Empty(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("reset: %v", err)
	}
	if _, err := newRestorer(cancelled, m); !errors.Is(err, context.Canceled) {
		t.Errorf("read what it holds: %v", err)
	}
	coll := &ebpf.Collection{Maps: map[string]*ebpf.Map{"m": m}}
	if err := Fill(cancelled, coll, map[string][]Entry{"m": {{make([]byte, 4), make([]byte, 4)}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("fill: %v", err)
	}
}

func TestCanReset(t *testing.T) {
	for _, c := range []struct {
		m          ebpf.MapSpec
		can, keeps bool
	}{
		{ebpf.MapSpec{Type: ebpf.Array}, true, false},
		{ebpf.MapSpec{Type: ebpf.Array, Flags: unix.BPF_F_RDONLY_PROG}, false, false}, // .rodata
		{ebpf.MapSpec{Type: ebpf.LRUHash}, true, false},
		{ebpf.MapSpec{Type: ebpf.RingBuf}, false, false},
		{ebpf.MapSpec{Type: ebpf.ProgramArray}, false, false},
		{ebpf.MapSpec{Type: ebpf.BloomFilter}, false, true},
		{ebpf.MapSpec{Type: ebpf.TaskStorage}, false, true},
	} {
		if can, keeps := CanReset(&c.m); can != c.can || keeps != c.keeps {
			t.Errorf("%v: can be reset %t, keeps %t", c.m.Type, can, keeps)
		}
	}
}
