package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Explain counts where the BPF instructions are that runs of benchmarks execute:
// line by line, of both sides of a pair, or of the head alone where there is no
// base. With code, lines have their instructions, and an estimate of what the JIT
// made of them.
//
// The explanation that it returns has no names of its sides. Benchmarks that fail
// carry their errors.
func Explain(ctx context.Context, pairs []PairJob, o Options, code bool) (*bench.Explanation, error) {
	if err := prepare(&o); err != nil {
		return nil, err
	}
	out := &bench.Explanation{
		Version:  bench.ExplanationVersion,
		Tool:     o.Tool,
		Testbed:  testbed(o.Mode),
		Started:  time.Now().UTC().Truncate(time.Second),
		Programs: []bench.Explained{},
	}
	o.Progress.Start(len(pairs), 0)
	err := onMeasuringThread(func() error {
		if err := pinThread(); err != nil {
			return err
		}
		for _, p := range pairsOrTestRun(pairs, tryVeth) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			out.Programs = append(out.Programs, explain(p, code))
			o.Progress.Round()
		}
		return nil
	})
	o.Progress.Done(nil)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func explain(p PairJob, code bool) bench.Explained {
	like := p.Head
	if like == nil {
		like = p.Base
	}
	e := bench.Explained{Benchmark: p.Name(), Driver: like.Driver(), Lines: []bench.Line{}}
	base, err := countSide(p.Base, code)
	var head *executed
	if err == nil {
		head, err = countSide(p.Head, code)
	}
	if err != nil {
		e.Error, e.Hint, e.Log = told(err)
		return e
	}
	e.Base, e.Head = base.explained(), head.explained()
	e.Warnings = slices.Concat(base.warnings(), head.warnings())
	e.Lines = append(e.Lines, joinLines(base, head)...)
	return e
}

// explained is what the side executes as a whole, nil of nil.
func (e *executed) explained() *bench.ExplainedSide {
	if e == nil {
		return nil
	}
	sum, instructions := e.sum(), 0
	for _, p := range e.table.Programs {
		instructions += len(p.Instructions)
	}
	return &bench.ExplainedSide{
		Object: e.job.Object.Path, ObjectSHA256: e.job.Object.SHA256,
		Program: e.job.Program, Type: e.job.Type(),
		Runs:     e.runs(),
		Executed: bench.Executed{PerRun: e.perRun(sum.Total()), Instructions: instructions},
	}
}

func (e *executed) warnings() []string {
	if e == nil {
		return nil
	}
	all := slices.Clone(e.job.Warnings)
	if w := e.warning(); w != "" {
		all = append(all, w)
	}
	return all
}

// countSide counts what a job executes, nil of nil.
func countSide(j *Job, code bool) (*executed, error) {
	switch {
	case j == nil:
		return nil, nil
	case j.Verify != nil:
		return nil, bench.WithHint(errors.New("it is only loaded, and nothing runs"), "give the benchmark a driver: test_run, veth or perf_event")
	}
	coll, err := loadCollection(j.Spec.Copy())
	if err != nil {
		return nil, explainLoad(j, err)
	}
	depths := stackDepths(coll)
	coll.Close()
	e, err := countExecuted(j, depths)
	if err != nil {
		return nil, err
	}
	if code {
		e.code, e.machine = true, machineCode(j)
	}
	return e, nil
}
