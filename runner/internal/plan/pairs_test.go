package plan

import (
	"testing"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
)

func TestIdentical(t *testing.T) {
	job := func() *Job {
		j := jobOf("a", "a", ebpf.XDP, work())
		j.Object.Data, j.Benchmark.TestRun, j.Frames = []byte("object"), &bench.TestRun{Repeat: 2}, [][]byte{{1}}
		j.Replacements = []Replacement{{Replaced: bench.Replaced{Function: "f", Program: "r", Object: "r.o", ObjectSHA256: "1"}}}
		return j
	}
	for name, c := range map[string]struct {
		change func(*Job)
		want   bool
	}{
		"the same": {func(*Job) {}, true},
		"in another place": {func(j *Job) {
			j.Object.Path, j.Benchmark.Object, j.Replacements[0].Object = "old/a.o", "old/a.o", "old/r.o"
		}, true},
		"no values":           {func(j *Job) { j.Globals, j.Maps = map[string]any{}, map[string]bench.MapPrep{} }, true},
		"another object":      {func(j *Job) { j.Object.Data = []byte("Object") }, false},
		"another replacement": {func(j *Job) { j.Replacements[0].ObjectSHA256 = "2" }, false},
		"another program":     {func(j *Job) { j.Program = "b" }, false},
		"another driver":      {func(j *Job) { j.TestRun, j.Verify = nil, &bench.Verify{} }, false},
		"another number":      {func(j *Job) { j.TestRun.Repeat = 3 }, false},
		"another packet":      {func(j *Job) { j.Frames = [][]byte{{2}} }, false},
		"another global":      {func(j *Job) { j.Globals = map[string]any{"N": 1} }, false},
		"another map":         {func(j *Job) { j.Maps = map[string]bench.MapPrep{"m": {}} }, false},
		"another entry":       {func(j *Job) { j.Entries = map[string][]bpfmap.Entry{"m": nil} }, false},
		"another preparation": {func(j *Job) { j.Preparations = []Preparation{{Runs: 1}} }, false},
	} {
		base, head := job(), job()
		c.change(base)
		for _, p := range []PairJob{{Base: base, Head: head}, {Base: head, Head: base}} {
			if got := p.Identical(); got != c.want {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
	if (PairJob{Head: job()}).Identical() || (PairJob{Base: job()}).Identical() {
		t.Error("one side is identical")
	}
}
