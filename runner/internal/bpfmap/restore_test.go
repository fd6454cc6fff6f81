package bpfmap

import (
	"context"
	"errors"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

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
