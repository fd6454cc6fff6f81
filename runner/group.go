package runner

import (
	"math"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// group is the benchmarks of a run that are loaded at the same time and share
// their rounds, with their floors.
type group struct {
	floors []*driven
	tracks []*track
}

func (g *group) close() {
	for _, f := range g.floors {
		f.close()
	}
	for _, t := range g.tracks {
		t.close()
	}
}

// anew returns the jobs of a group in which the runs of one turned out to depend on what
// others leave of their input, so that these have calls of their own; or nil.
func (g *group) anew() (jobs []*Job) {
	depends := false
	for _, t := range g.tracks {
		job := t.job
		if t.dependsOn != "" {
			depends, job = true, job.WithFresh(t.dependsOn)
		}
		jobs = append(jobs, job)
	}
	if !depends {
		return nil
	}
	return jobs
}

const (
	// mostGrouped is the number of programs in a group. It leaves room to load
	// those of a benchmark once more, to count their instructions.
	mostGrouped = load.Most / 2
	// besideProgram is how many programs of our own may be loaded beside those of
	// a benchmark, to drive it and to empty its maps.
	besideProgram = 2
)

// newGroups cuts jobs into groups, in their order. In exact mode, which loads one
// benchmark at a time, there is only one. A benchmark that leaves work for later has one of
// its own: the runs of others would wait for that work.
func newGroups(jobs []*Job, exact bool) (all []*group) {
	most := mostGrouped
	if exact {
		most = math.MaxInt
	}
	var g *group
	var floors map[floorKey]*driven
	size, alone := 0, false
	for _, job := range jobs {
		add := len(job.Spec.Programs) + besideProgram
		was := alone
		alone = !exact && leavesWork(job)
		if g == nil || was || alone || size+add > most {
			g, floors, size = &group{}, map[floorKey]*driven{}, 0
			all = append(all, g)
		}
		size += add
		if job.Verify != nil {
			g.tracks = append(g.tracks, newTrack(job, nil))
			continue
		}
		key := floorOf(job)
		if floors[key] == nil {
			floors[key] = newFloor(key, job)
			g.floors = append(g.floors, floors[key])
			size += 1 + besideProgram
		}
		g.tracks = append(g.tracks, newTrack(job, floors[key]))
	}
	for _, g := range all {
		for _, t := range g.tracks {
			t.exact = exact
		}
	}
	return all
}

// leavesWork reports whether runs of a job's programs may ask for calls after them.
func leavesWork(job *Job) bool {
	for _, p := range job.Spec.Programs {
		if insn.LeavesWork(p.Instructions) {
			return true
		}
	}
	return false
}
