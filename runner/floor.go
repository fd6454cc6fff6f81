package runner

import (
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/programs/empty"
)

// floorKey says which benchmarks share a floor: those of one program type that
// are driven the same way, because what counting a run costs depends on how
// the kernel comes to call the program.
type floorKey struct {
	typ    ebpf.ProgramType
	driven string
}

// manyRuns is from how many runs a test_run call on, the first ones, which are
// slow, do not show.
const manyRuns = 64

func floorOf(j *Job) floorKey {
	key := floorKey{typ: j.program().Type}
	switch {
	case j.TestRun != nil:
		key.driven = fmt.Sprintf("test_run of %d", min(max(j.TestRun.Repeat/len(j.Frames), 1), manyRuns))
	case j.Veth != nil:
		key.driven = fmt.Sprintf("veth, %s, %s, %d packets", j.Veth.Mode, j.Veth.Sender, j.Veth.Count)
	case j.PerfEvent != nil:
		key.driven = fmt.Sprintf("perf_event %+v", *j.PerfEvent)
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
