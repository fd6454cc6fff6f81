package runner

import (
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/programs/empty"
)

// floorKey says which benchmarks share a floor: what counting a run costs
// depends on how the kernel calls the program, not on the program.
type floorKey struct {
	driver string
	typ    ebpf.ProgramType
	mode   bench.XDPMode
	// runs is the number of runs that a test_run call makes where that is so
	// few that the first, slow ones count; 0 where it is more.
	runs int
}

// manyRuns is from how many runs a call on, the first ones do not show.
const manyRuns = 64

func floorOf(j *Job) floorKey {
	key := floorKey{driver: j.Driver(), typ: j.program().Type}
	switch {
	case j.Veth != nil:
		key.mode = j.Veth.Mode
	case j.TestRun != nil:
		if runs := j.TestRun.Repeat / len(j.Frames); runs < manyRuns {
			key.runs = runs
		}
	}
	return key
}

// newFloor is the track of the empty program that is driven as like is.
func newFloor(key floorKey, like *Job) *track {
	job := &Job{Benchmark: &bench.Benchmark{
		Name:      "floor of " + like.Type(),
		TestRun:   like.TestRun,
		Veth:      like.Veth,
		PerfEvent: like.PerfEvent,
	}, Frames: like.Frames}
	t := &track{job: job}
	all, err := empty.Load()
	if err != nil {
		t.err = err
		return t
	}
	job.Program = "empty_" + typeName(key.typ)
	if all.Programs[job.Program] == nil {
		t.err = fmt.Errorf("there is no %s", job.Program)
		return t
	}
	job.Spec, _ = extract(all, job.Program)
	return t
}
