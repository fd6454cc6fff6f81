package plan

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Adapt returns jobs with those replaced that this kernel cannot drive in the way that
// the suite wants, where another one measures the same. It does not change the jobs
// themselves.
func Adapt(jobs []*Job) []*Job {
	lacks := map[string]bool{} // by driver and type
	return replaced(jobs, func(j *Job) bool {
		k := j.Kind()
		if k.Lacks == nil {
			return false
		}
		way := j.Driver() + " " + j.Type()
		if _, known := lacks[way]; !known {
			lacks[way] = k.Lacks(j)
		}
		return lacks[way]
	}, func(j *Job) *Job { return j.Kind().Instead(j) })
}

// replaced returns jobs with some of them replaced. It does not change the jobs
// themselves.
func replaced(jobs []*Job, which func(*Job) bool, by func(*Job) *Job) []*Job {
	jobs = slices.Clone(jobs)
	for i, j := range jobs {
		if which(j) {
			jobs[i] = by(j)
		}
	}
	return jobs
}

// FitPairs applies fit to the jobs of pairs.
func FitPairs(pairs []PairJob, fit func([]*Job) []*Job) []PairJob {
	var jobs []*Job
	for _, p := range pairs {
		for _, j := range []*Job{p.Base, p.Head} {
			if j != nil {
				jobs = append(jobs, j)
			}
		}
	}
	jobs = fit(jobs)
	next := func(j *Job) *Job {
		if j == nil {
			return nil
		}
		first := jobs[0]
		jobs = jobs[1:]
		return first
	}
	out := slices.Clone(pairs)
	for i, p := range pairs {
		out[i].Base = next(p.Base)
		out[i].Head = next(p.Head)
	}
	return out
}

// Warnings for a benchmark that is to run on all CPUs at once.
const (
	OneCPU    = "not run in parallel: there is one CPU for it here"
	OneAtOnce = "not run in parallel: a machine that counts instructions runs one CPU at a time"
)

// OrAlone makes parallel jobs run on a single CPU if only one can be used.
func OrAlone(jobs []*Job, mode bench.Mode, cpus []int) []*Job {
	why := ""
	switch {
	case mode == bench.ModeExact:
		why = OneAtOnce
	case len(cpus) < 2:
		why = OneCPU
	default:
		return jobs
	}
	return replaced(jobs, func(j *Job) bool { return j.Parallel }, func(j *Job) *Job {
		job, b := *j, *j.Benchmark
		b.Parallel = false
		job.Benchmark = &b
		job.Warnings = append(slices.Clip(j.Warnings), why)
		return &job
	})
}

// WithFresh returns a job whose runs of test_run have calls of their own, because one
// depends on what others leave there.
func (j *Job) WithFresh(on string) *Job {
	with := *j
	with.Fresh = on
	return &with
}

// ByVerify returns a job that only loads the program, with the reason as a
// warning.
func (j *Job) ByVerify(why error) *Job {
	job, b := *j, *j.Benchmark
	b.SetDriver(bench.DriverVerify)
	// A program that never runs needs no preparation.
	job.Benchmark, job.Frames, job.Preparations, job.Companions = &b, nil, nil, nil
	job.Warnings = append(job.Warnings[:len(job.Warnings):len(job.Warnings)], NotRun+why.Error())
	return &job
}
