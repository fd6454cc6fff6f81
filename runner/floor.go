package runner

import (
	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/programs/empty"
)

// floorKey identifies the benchmarks that share a floor: those of one program
// type that are driven the same way. The cost of counting a run depends on how
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

// newFloor returns an empty program that is driven in the same way as like.
func newFloor(key floorKey, like *Job) *driven {
	b := *like.Benchmark
	b.Name = "floor of " + like.Type()
	b.Globals, b.Maps = nil, nil
	if k := like.Kind(); k.Floor != nil {
		k.Floor(&b)
	}
	job := &Job{Benchmark: &b, Frames: like.Frames, AnyRuns: like.AnyRuns, Fresh: like.Fresh}
	floor := &driven{job: job}
	program, err := empty.Like(like.ProgramSpec())
	if err != nil {
		floor.err = err
		return floor
	}
	b.Program = program.Name
	job.Spec = &ebpf.CollectionSpec{
		Maps:      map[string]*ebpf.MapSpec{},
		Programs:  map[string]*ebpf.ProgramSpec{program.Name: program},
		Variables: map[string]*ebpf.VariableSpec{},
	}
	return floor
}
