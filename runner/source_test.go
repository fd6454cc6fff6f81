package runner

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestSource(t *testing.T) {
	plan := planOf(t, objects+`
  - {name: a, program: fun_xdp_fibonacci_slow, test_run: {}}
  - {name: b, program: profile, perf_event: {}}
`)
	for i, want := range []bench.Source{
		{File: "fun_xdp.c", Line: 182, Function: "fun_xdp_fibonacci_slow"},
		{File: "perf_profiler.c", Line: 48, Function: "profile"},
	} {
		if got := plan.Jobs[i].Source(); got == nil || *got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	// What has no debug information has no source.
	if got := sourceOf(&ebpf.ProgramSpec{Name: "f"}); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestDeclares(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool
	}{
		{"int f(struct xdp_md *ctx)", true},
		{"static __always_inline void *f (void)", true},
		{"char *f(void)", true},
		{"pub fn f(ctx: XdpContext) -> u32 {", true},
		{"pub fn f<T>(ctx: T) -> u32 {", true},
		{"\treturn f(ctx);", false},
		{"\tx = f(ctx);", false},
		{"\tint x = f(ctx);", false},
		{"\tf(ctx);", false},
		{"\tg(a, f(ctx));", false},
		{"int of(struct xdp_md *ctx)", false},
		{"int f_more(struct xdp_md *ctx)", false},
		{"SEC(\"xdp\")", false},
		{"", false},
	} {
		if got := declares(c.line, "f"); got != c.want {
			t.Errorf("%q: %v", c.line, got)
		}
	}
}
