package report

import (
	"slices"
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
		{"socket_filter", map[uint32]uint64{0: 1}, "0"},
	} {
		if got := Returned(&bench.Result{Type: c.progType, Retvals: c.retvals}); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.progType, c.retvals, got, c.want)
		}
	}
}

func TestOtherWork(t *testing.T) {
	xdp := func(returned map[uint32]uint64) *bench.Result { return &bench.Result{Type: "xdp", Retvals: returned} }
	for name, c := range map[string]struct {
		base, head *bench.Result
		want       []string
	}{
		"same":          {xdp(map[uint32]uint64{2: 500}), xdp(map[uint32]uint64{2: 90}), nil},
		"alike":         {xdp(map[uint32]uint64{2: 97, 1: 3}), xdp(map[uint32]uint64{2: 100}), nil},
		"other":         {xdp(map[uint32]uint64{2: 9}), xdp(map[uint32]uint64{1: 9}), []string{"returns XDP_DROP, and XDP_PASS on the base: its costs may be those of other work"}},
		"of one packet": {xdp(map[uint32]uint64{2: 9}), xdp(map[uint32]uint64{1: 3, 2: 9}), []string{"returns 75% XDP_PASS, 25% XDP_DROP, and XDP_PASS on the base: its costs may be those of other work"}},
		"too many":      {xdp(map[uint32]uint64{0: 1, 1: 1, 2: 1, 3: 1}), xdp(map[uint32]uint64{4: 9}), []string{"returns XDP_REDIRECT, and others on the base: its costs may be those of other work"}},
		"unknown":       {xdp(nil), xdp(map[uint32]uint64{1: 9}), nil},
		"type":          {xdp(nil), &bench.Result{Type: "sched_cls"}, []string{"is a program of type sched_cls, and of type xdp on the base: its costs are those of other work"}},
		"failed":        {xdp(map[uint32]uint64{2: 9}), &bench.Result{Type: "xdp", Error: "no", Retvals: map[uint32]uint64{1: 9}}, nil},
		"new":           {nil, xdp(map[uint32]uint64{2: 9}), nil},
	} {
		if got := OtherWork(&bench.Pair{Base: c.base, Head: c.head}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
