package plan

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
)

func TestIdentical(t *testing.T) {
	code := func(j *Job) asm.Instructions { return j.ProgramSpec().Instructions }
	job := func() *Job {
		j := jobOf("a", "a", ebpf.XDP, work())
		j.Spec.Maps = map[string]*ebpf.MapSpec{"m": {Type: ebpf.Array, MaxEntries: 1, Contents: []ebpf.MapKV{{Key: uint32(0), Value: []byte{1}}}}}
		j.Benchmark.TestRun, j.Frames = &bench.TestRun{Repeat: 2}, [][]byte{{1}}
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
		"no values": {func(j *Job) { j.Globals, j.Maps = map[string]any{}, map[string]bench.MapPrep{} }, true},
		"on another line": {func(j *Job) {
			code(j)[0] = code(j)[0].WithSource(asm.Comment("line 2"))
		}, true},
		"another instruction": {func(j *Job) { code(j)[0].Constant++ }, false},
		"another reference":   {func(j *Job) { code(j)[0] = code(j)[0].WithReference("other") }, false},
		"another type":        {func(j *Job) { code(j)[0] = btf.WithFuncMetadata(code(j)[0], &btf.Func{Name: "other"}) }, false},
		"one more":            {func(j *Job) { j.ProgramSpec().Instructions = append(code(j), asm.Return()) }, false},
		"another license":     {func(j *Job) { j.ProgramSpec().License = "MIT" }, false},
		"one more program":    {func(j *Job) { j.Spec.Programs["b"] = &ebpf.ProgramSpec{} }, false},
		"a larger map":        {func(j *Job) { j.Spec.Maps["m"].MaxEntries++ }, false},
		"other contents":      {func(j *Job) { j.Spec.Maps["m"].Contents[0].Value = []byte{2} }, false},
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
		base.Object.Data = []byte("base")
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
