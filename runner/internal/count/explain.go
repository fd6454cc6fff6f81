package count

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn/srcline"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// Explain counts what runs of a pair execute, or of the head alone if there is
// no base.
func Explain(ctx context.Context, p plan.PairJob, code bool) bench.Explained {
	studied := Study(ctx, p.Base, p.Head)
	p.Base, p.Head = studied[0], studied[1]
	like := p.Head
	if like == nil {
		like = p.Base
	}
	e := bench.Explained{Benchmark: p.Name(), Driver: like.Driver(), Lines: []bench.Line{}}
	base, err := countSide(ctx, p.Base, code)
	var head *Executed
	if err == nil {
		head, err = countSide(ctx, p.Head, code)
	}
	if err != nil {
		e.Error, e.Hint, e.Log = load.Explained(err)
		return e
	}
	e.Base, e.Head = base.explained(), head.explained()
	e.Warnings = base.Warnings()
	for _, w := range head.Warnings() {
		if !slices.Contains(e.Warnings, w) {
			e.Warnings = append(e.Warnings, w)
		}
	}
	lines, _ := joinLines(base, head)
	e.Lines = append(e.Lines, lines...)
	return e
}

// explained returns what the side executes as a whole, or nil if e is nil.
func (e *Executed) explained() *bench.ExplainedSide {
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

// Warnings returns the warnings about the side, none if e is nil.
func (e *Executed) Warnings() []string {
	if e == nil {
		return nil
	}
	all := slices.Clone(e.job.Warnings)
	if w := e.Warning(); w != "" {
		all = append(all, w)
	}
	if w := e.unclearTailCalls(); w != "" {
		all = append(all, w)
	}
	all = append(all, e.LaterWarnings()...)
	if w := e.AgedWarning(); w != "" {
		all = append(all, w)
	}
	if !srcline.Known(e.table.Programs) {
		all = append(all, fmt.Sprintf("%s has no debug information of its lines, so these are blocks of instructions: compile it with -g", e.job.Object.Path))
	}
	return all
}

// countSide counts what a job executes; it returns nil for a nil job. It ends
// with the context between loads, because one may keep the verifier busy for
// seconds.
func countSide(ctx context.Context, j *plan.Job, code bool) (*Executed, error) {
	switch {
	case j == nil:
		return nil, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case j.Verify != nil:
		return nil, bench.WithHint(errors.New("it is only loaded, and nothing runs"), "give the benchmark a driver, such as test_run, veth or command")
	}
	coll, _, err := subject.LoadJob(j, j.Spec.Copy())
	if err != nil {
		return nil, err
	}
	depths := StackDepths(coll)
	load.Close(coll)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e, err := Count(ctx, j, depths, Like{})
	if err != nil {
		return nil, err
	}
	if code && ctx.Err() == nil {
		e.code, e.machine = true, machineCode(j)
	}
	return e, nil
}
