package exchange

import (
	"context"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// A signal may come while the place is made.
func TestCgroupPlaceThatIsNotFinished(t *testing.T) {
	testenv.Root(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := newCgroupPlace(ctx, cgroupHook{}, bench.Exchange{Protocol: bench.ProtocolUDP}); err == nil {
		t.Error("a place without a task", p.Close())
	}
}
