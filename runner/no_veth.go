package runner

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
)

// noVeth is the warning of a benchmark that is for a veth pair.
const noVeth = "this kernel has no veth interfaces: test_run drives the program instead, with the same packets"

// orTestRun replaces the veth of jobs by test_run where the kernel has no such
// interfaces, which try finds out. The floor of such a job is that of test_run.
// Any other error is not its business: the job will meet it again. What test_run
// does not take either is left to orSocket.
func orTestRun(jobs []*Job, try func() error) []*Job {
	jobs = orSocket(jobs, trySkLookup)
	onVeth := func(j *Job) bool { return j.Veth != nil }
	if !slices.ContainsFunc(jobs, onVeth) || !isMissing(try()) {
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i, j := range jobs {
		if onVeth(j) {
			jobs[i] = j.byTestRun()
		}
	}
	return jobs
}

func (j *Job) byTestRun() *Job {
	job, b := *j, *j.Benchmark
	b.TestRun, b.Veth = &bench.TestRun{Packets: b.Veth.Packets, Repeat: b.Veth.Count}, nil
	job.Benchmark = &b
	job.Warnings = append(slices.Clip(j.Warnings), noVeth)
	return &job
}

// isMissing tells what the kernel says of a kind of interface that it does not
// have.
func isMissing(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV)
}

// tryVeth makes a veth pair, and removes it.
func tryVeth() error {
	v, err := vethpair.New(bench.XDPNative, bench.Ingress)
	if err != nil {
		return err
	}
	return v.Close()
}

// pairsOrTestRun is orTestRun for the jobs of pairs.
func pairsOrTestRun(pairs []PairJob, try func() error) []PairJob {
	return fitPairs(pairs, func(jobs []*Job) []*Job { return orTestRun(jobs, try) })
}

// fitPairs is a function of jobs for those of pairs.
func fitPairs(pairs []PairJob, fit func([]*Job) []*Job) []PairJob {
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
	out := make([]PairJob, len(pairs))
	for i, p := range pairs {
		out[i].Base = next(p.Base)
		out[i].Head = next(p.Head)
	}
	return out
}
