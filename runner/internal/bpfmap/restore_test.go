package bpfmap

import (
	"context"
	"errors"
	"testing"

	"github.com/cilium/ebpf"

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
