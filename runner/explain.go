package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn/srcline"
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
		if _, err := pinThread(); err != nil {
			return err
		}
		for _, p := range pairsOrTestRun(pairs, tryVeth) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			program := explain(ctx, p, code)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			out.Programs = append(out.Programs, program)
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

func explain(ctx context.Context, p PairJob, code bool) bench.Explained {
	like := p.Head
	if like == nil {
		like = p.Base
	}
	e := bench.Explained{Benchmark: p.Name(), Driver: like.Driver(), Lines: []bench.Line{}}
	base, err := countSide(ctx, p.Base, code)
	var head *executed
	if err == nil {
		head, err = countSide(ctx, p.Head, code)
	}
	if err != nil {
		e.Error, e.Hint, e.Log = told(err)
		return e
	}
	e.Base, e.Head = base.explained(), head.explained()
	e.Warnings = base.warnings()
	for _, w := range head.warnings() {
		if !slices.Contains(e.Warnings, w) {
			e.Warnings = append(e.Warnings, w)
		}
	}
	e.Lines = append(e.Lines, joinLines(base, head)...)
	return e
}

// explained is what the side executes as a whole, nil of nil.
func (e *executed) explained() *bench.ExplainedSide {
	if e == nil {
		return nil
	}
	sum, instructions := e.total, 0
	for _, p := range e.table.Programs {
		instructions += len(p.Instructions)
	}
	return &bench.ExplainedSide{
		Object: e.job.Object.Path, ObjectSHA256: e.job.Object.SHA256,
		Program: bench.ClipName(e.job.Program), Type: e.job.Type(),
		Runs: e.runs(),
		Executed: bench.Executed{
			PerRun: e.perRun(sum.Total()), Instructions: instructions, Times: 1,
			Spread: e.spread(func(p pass) uint64 { return p.counts.Total() }),
		},
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
	if w := e.unclearTailCalls(); w != "" {
		all = append(all, w)
	}
	if !srcline.Known(e.table.Programs) {
		all = append(all, fmt.Sprintf("%s has no debug information of its lines, so these are blocks of instructions: compile it with -g", e.job.Object.Path))
	}
	return all
}

// countSide counts what a job executes, nil of nil. It ends with the context between
// loads, each of which may take the verifier seconds.
func countSide(ctx context.Context, j *Job, code bool) (*executed, error) {
	switch {
	case j == nil:
		return nil, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case j.Verify != nil:
		return nil, bench.WithHint(errors.New("it is only loaded, and nothing runs"), "give the benchmark a driver, such as test_run, veth or command")
	}
	coll, _, err := j.load(j.Spec.Copy())
	if err != nil {
		return nil, err
	}
	depths := stackDepths(coll)
	coll.Close()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e, err := countExecuted(ctx, j, depths, measured{})
	if err != nil {
		return nil, err
	}
	if code && ctx.Err() == nil {
		e.code, e.machine = true, machineCode(j)
	}
	return e, nil
}
