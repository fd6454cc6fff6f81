package runner

import (
	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/programs/empty"
)

// floorKey says which benchmarks share a floor: those of one program type that
// are driven the same way, because what counting a run costs depends on how
// the kernel comes to call the program.
type floorKey struct {
	typ    ebpf.ProgramType
	attach ebpf.AttachType
	to     string
	driven string
}

func floorOf(j *Job) floorKey {
	p := j.ProgramSpec()
	return floorKey{p.Type, p.AttachType, p.AttachTo, j.Kind().Alike(j)}
}

// newFloor is the track of the empty program that is driven as like is.
func newFloor(key floorKey, like *Job) *track {
	b := *like.Benchmark
	b.Name = "floor of " + like.Type()
	b.Globals, b.Maps = nil, nil
	if b.TestRun != nil {
		// Other benchmarks share the floor, which the kernel may not run with this.
		run := *b.TestRun
		run.Context, b.TestRun = nil, &run
	}
	job := &Job{Benchmark: &b, Frames: like.Frames}
	t := &track{job: job}
	program, err := empty.Like(like.ProgramSpec())
	if err != nil {
		t.err = err
		return t
	}
	b.Program = program.Name
	job.Spec = &ebpf.CollectionSpec{
		Maps:      map[string]*ebpf.MapSpec{},
		Programs:  map[string]*ebpf.ProgramSpec{program.Name: program},
		Variables: map[string]*ebpf.VariableSpec{},
	}
	return t
}
