package measured

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestReturned(t *testing.T) {
	for _, c := range []struct {
		progType string
		retvals  map[uint32]uint64
		want     string
	}{
		{"xdp", map[uint32]uint64{2: 512}, "XDP_PASS"},
		{"xdp", map[uint32]uint64{2: 75, 1: 25}, "75% XDP_PASS, 25% XDP_DROP"},
		{"xdp", map[uint32]uint64{99: 1}, "99"},
		{"sched_cls", map[uint32]uint64{0xfffffff5: 1}, "-11"},
		{"sched_cls", map[uint32]uint64{0xffffffff: 1}, "TC_ACT_UNSPEC"},
		{"xdp", map[uint32]uint64{0: 1, 1: 1, 2: 1, 3: 1}, ""},
		{"xdp", nil, ""},
		{"perf_event", map[uint32]uint64{0: 1}, ""},
	} {
		if got := verdictsOf(&bench.Result{Type: c.progType, Retvals: c.retvals}); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.progType, c.retvals, got, c.want)
		}
	}
}
