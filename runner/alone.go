package runner

import (
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Warnings of a benchmark that is for all CPUs at once.
const (
	oneCPU    = "not run in parallel: there is one CPU for it here"
	oneAtOnce = "not run in parallel: a machine that counts instructions runs one CPU at a time"
)

// orAlone makes jobs that are for all CPUs at once ones for a single CPU where
// that is all there is.
func orAlone(jobs []*Job, mode bench.Mode, cpus []int) []*Job {
	why := ""
	switch {
	case mode == bench.ModeExact:
		why = oneAtOnce
	case len(cpus) < 2:
		why = oneCPU
	default:
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i, j := range jobs {
		if !j.Parallel {
			continue
		}
		job, b := *j, *j.Benchmark
		b.Parallel = false
		job.Benchmark = &b
		job.Warnings = append(slices.Clip(j.Warnings), why)
		jobs[i] = &job
	}
	return jobs
}
