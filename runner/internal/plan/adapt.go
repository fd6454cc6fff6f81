package plan

import (
	"errors"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/vethpair"
)

// NoVeth is the warning for a benchmark that names veth.
const NoVeth = "this kernel has no veth interfaces: test_run drives the program instead, with the same packets"

// OrTestRun replaces the veth of jobs with test_run if the kernel has no such
// interfaces, as try finds out. The floor of such a job is that of test_run. It
// ignores any other error, because the job will meet it again. Programs that
// test_run does not take are left to OrSocket.
func OrTestRun(jobs []*Job, try func() error) []*Job {
	jobs = OrSocket(jobs, trySkLookup)
	onVeth := func(j *Job) bool { return j.Veth != nil }
	if !slices.ContainsFunc(jobs, onVeth) || !isMissing(try()) {
		return jobs
	}
	return replaced(jobs, onVeth, (*Job).byTestRun)
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

func (j *Job) byTestRun() *Job {
	job, b := *j, *j.Benchmark
	b.TestRun, b.Veth = &bench.TestRun{Packets: b.Veth.Packets, Repeat: b.Veth.Count}, nil
	job.Benchmark = &b
	job.Warnings = append(slices.Clip(j.Warnings), NoVeth)
	return &job
}

// isMissing reports whether err is the kernel's for a kind of interface that it
// lacks.
func isMissing(err error) bool {
	return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV)
}

// TryVeth makes a veth pair and removes it.
func TryVeth() error {
	v, err := vethpair.New(bench.XDPNative, bench.Ingress)
	if err != nil {
		return err
	}
	return v.Close()
}

// PairsOrTestRun is OrTestRun for the jobs of pairs.
func PairsOrTestRun(pairs []PairJob, try func() error) []PairJob {
	return FitPairs(pairs, func(jobs []*Job) []*Job { return OrTestRun(jobs, try) })
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

// NoLookupRun is the warning for a benchmark that names test_run.
const NoLookupRun = "this kernel has no test_run for sk_lookup programs, which is there since Linux 5.13: socket drives the program instead"

// OrSocket replaces the test_run of sk_lookup programs with socket if the
// kernel has none for them, as try finds out.
func OrSocket(jobs []*Job, try func() error) []*Job {
	runs := func(j *Job) bool { return j.TestRun != nil && j.ProgramSpec().Type == ebpf.SkLookup }
	if !slices.ContainsFunc(jobs, runs) || !errors.Is(try(), ebpf.ErrNotSupported) {
		return jobs
	}
	return replaced(jobs, runs, (*Job).bySocket)
}

func (j *Job) bySocket() *Job {
	job, b := *j, *j.Benchmark
	b.SetDriver(bench.DriverSocket)
	b.SetDriverDefaults()
	job.Benchmark, job.Frames = &b, nil
	job.Warnings = append(slices.Clip(j.Warnings), NoLookupRun)
	warnOfSockets(&job, SocketMaps)
	return &job
}

// trySkLookup runs an empty sk_lookup program. Its context is not a valid one,
// which is a different error.
func trySkLookup() error {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "bench_try", Type: ebpf.SkLookup, AttachType: ebpf.AttachSkLookup, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 1 /* SK_PASS */), asm.Return()},
	})
	if err != nil {
		return nil // the job will say why
	}
	defer p.Close()
	_, err = p.Run(&ebpf.RunOptions{Context: make([]byte, 64)})
	return err
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
