package runner

import (
	"errors"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// noLookupRun is the warning of a benchmark that is for test_run.
const noLookupRun = "this kernel has no test_run for sk_lookup programs, which is there since Linux 5.13: socket drives the program instead"

// orSocket replaces the test_run of sk_lookup programs by socket where the kernel
// has none for them, which try finds out.
func orSocket(jobs []*Job, try func() error) []*Job {
	runs := func(j *Job) bool { return j.TestRun != nil && j.program().Type == ebpf.SkLookup }
	if !slices.ContainsFunc(jobs, runs) || !errors.Is(try(), ebpf.ErrNotSupported) {
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i, j := range jobs {
		if runs(j) {
			jobs[i] = j.bySocket()
		}
	}
	return jobs
}

func (j *Job) bySocket() *Job {
	job, b := *j, *j.Benchmark
	b.SetDriver(bench.DriverSocket)
	suite.SetDriverDefaults(&b)
	job.Benchmark, job.Frames = &b, nil
	job.Warnings = append(slices.Clip(j.Warnings), noLookupRun)
	warnOfSockets(&job, socketMaps)
	return &job
}

// trySkLookup runs an empty sk_lookup program. That the context is not one for
// it is another error.
func trySkLookup() error {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "bench_try", Type: ebpf.SkLookup, AttachType: ebpf.AttachSkLookup, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, skPass), asm.Return()},
	})
	if err != nil {
		return nil // the job will say why
	}
	defer p.Close()
	_, err = p.Run(&ebpf.RunOptions{Context: make([]byte, 64)})
	return err
}
