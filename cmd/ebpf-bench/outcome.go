package main

import (
	"context"
	"errors"
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report/compare"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/thresholds"
)

// outcome has the flags of all commands that judge, for what to do with the results.
type outcome struct {
	format  string
	out     string
	limits  string
	strict  bool
	verbose bool
	store   cli.Store
	// branch is the branch of the runs, if known.
	branch string
}

// judge returns a judge with a policy and the history in the baseline.
func (o *outcome) judge(policy *thresholds.Policy) *judge.Judge {
	return &judge.Judge{
		Policy: policy, Strict: o.strict, Store: o.store.Open(), Where: o.store.Folder,
		Elsewhere: o.format == "bmf", Branch: o.branch,
	}
}

// runs writes, prints and judges runs. missing says why runs are absent that were meant to
// be measured; kernels are those that were requested.
func (o *outcome) runs(ctx context.Context, t *ui.Terminal, write writer, policy *thresholds.Policy, kernels []thresholds.Kernel, runs []*bench.Run, missing error) error {
	policy.Mark(runs...)
	failed := errors.Join(write(runs...), cli.PrintRuns(t, o.format, runs...), exit.NoMeasure(missing), judge.Failures(runs, o.verbose, missing))
	notes, verdict := o.judge(policy).Runs(ctx, kernels, runs)
	t.Tell(notes...)
	return errors.Join(failed, verdict)
}

// comparisons is runs for comparisons.
func (o *outcome) comparisons(ctx context.Context, t *ui.Terminal, out output.File, policy *thresholds.Policy, kernels []thresholds.Kernel, all []*bench.Comparison, missing error) error {
	j := o.judge(policy)
	off := j.Missed(kernels, judge.Testbeds(all))
	judged, notes, unread := j.Comparisons(ctx, all)
	t.Tell(notes...)
	failed := errors.Join(out.Write(func(w io.Writer) error { return compare.JSON(w, judged) }), cli.PrintComparison(t, o.format, o.verbose, judged), off)
	notes, verdict := j.Verdict(judged)
	t.Tell(notes...)
	return errors.Join(failed, verdict, unread, exit.NoMeasure(missing), judge.Uncompared(all, o.verbose, missing))
}
