package action

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/keep"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner"
)

// measurer is the step that measures.
type measurer struct {
	planned
	may privileges
}

// run measures the head beside the base, or alone if there is none. The results that
// it writes are not judged.
func (m *measurer) run(ctx context.Context) error {
	if err := m.openPlan(); err != nil {
		return exit.NoMeasure(err)
	}
	if m.needsRoot() {
		return m.asRoot(ctx)
	}
	if err := m.bringHost(ctx); err != nil {
		return err
	}
	base, err := m.baseArg()
	if err != nil {
		return err
	}
	if base != "" {
		measured, err := m.measurePaired(ctx, base)
		if measured || err != nil {
			return m.in.withBuildHint(err)
		}
	}
	return m.in.withBuildHint(m.measureAlone(ctx))
}

// baseArg returns the base as compare takes it, empty if there is none.
func (m *measurer) baseArg() (string, error) {
	switch m.Base {
	case baseBuilt:
		return m.baseSuite()
	case baseStored:
		return "baseline:" + m.Run, nil
	}
	return "", nil
}

// baseSuite returns the base's version of the suite that is measured here, empty if there is
// none.
func (m *measurer) baseSuite() (string, error) {
	if file := m.suiteIn(m.baseTop()); file != "" {
		return file, nil
	}
	return "", m.noBase(lacksSuite, "the merge base has no "+m.in.suiteNames()[0])
}

// measurePaired measures both sides in the same rounds. It reports whether there was a
// base that it could read.
func (m *measurer) measurePaired(ctx context.Context, base string) (bool, error) {
	o, err := m.options()
	if err != nil {
		return false, exit.Usage(err)
	}
	c, err := o.Compare(ctx, append([]string{base}, m.in.suiteArgs()...))
	if unread := (*sides.BaseError)(nil); errors.As(err, &unread) {
		return false, m.noBase(lacksObjects, fmt.Sprintf("it cannot be read: %v", err))
	}
	if c != nil {
		m.Watch.Tell(c.Notes...)
	}
	if err != nil {
		return false, exit.Usage(err)
	}
	c.Base.Side, c.Head.Side = m.BaseSide, m.HeadSide
	if c.Nothing() && c.Shard != nil {
		empty, note := c.Empty()
		m.Watch.Tell(note)
		return true, m.writeComparisons(empty)
	}
	doubts := m.doubts(c)
	comparisons, err := c.Measure(ctx, func(soFar ...*bench.Comparison) {
		doubts.mark(soFar)
		_ = m.writeComparisons(soFar...)
	})
	if len(comparisons) == 0 {
		return false, exit.NoMeasure(err)
	}
	doubts.mark(comparisons)
	off := (&judge.Judge{Policy: c.Policy}).Missed(c.Judged.Kernels, judge.Testbeds(comparisons))
	return true, errors.Join(off, exit.NoMeasure(err), m.writeComparisons(comparisons...))
}

// measureAlone measures the head alone, and keeps a run that will become a baseline.
func (m *measurer) measureAlone(ctx context.Context) error {
	o, err := m.options()
	if err != nil {
		return exit.Usage(err)
	}
	o.File = m.in.config
	r, err := o.Run()
	if r != nil {
		m.Watch.Tell(r.Notes()...)
	}
	if err != nil {
		return exit.Usage(err)
	}
	write := func(runs ...*bench.Run) error {
		for _, run := range runs {
			run.NoBase, run.Workflow = string(m.Lack), m.attempt()
		}
		return m.writeResults(func(w io.Writer) error { return bench.EncodeRuns(w, runs...) })
	}
	if len(r.Plan.Jobs) == 0 {
		empty, note := r.Empty()
		m.Watch.Tell(note)
		return write(empty)
	}
	runs, err := r.Measure(ctx, write)
	if len(runs) == 0 {
		return exit.NoMeasure(err)
	}
	off := (&judge.Judge{Policy: r.Policy}).Missed(r.Judged.Kernels, judge.TestbedsOf(runs))
	return errors.Join(off, exit.NoMeasure(err), write(runs...), m.keep(ctx, r.Suite, runs))
}

// keep keeps the runs, with their objects, for the step that may save them. A failed run
// cannot serve as a baseline, and is reported as failed.
func (m *measurer) keep(ctx context.Context, of *suite.Suite, runs []*bench.Run) error {
	if !m.Save {
		return nil
	}
	entries, err := keep.Entries(of, runs, keep.Origin{Branch: m.HeadSide.Branch, Commit: m.HeadSide.Commit})
	if err != nil {
		m.warn("%v", err)
	}
	store := folder.Open(m.state.path(savedFolder))
	for _, e := range entries {
		if _, err := store.Save(ctx, e); err != nil {
			return exit.NoMeasure(fmt.Errorf("keep the run: %w", err))
		}
	}
	return nil
}

func (m *measurer) writeComparisons(comparisons ...*bench.Comparison) error {
	for _, c := range comparisons {
		c.Workflow = m.attempt()
	}
	return m.writeResults(func(w io.Writer) error { return bench.EncodeComparisons(w, comparisons...) })
}

// attempt returns the attempt of the workflow that this is, nil in a local run.
func (m *measurer) attempt() *bench.Attempt {
	if m.on == nil || m.on.RunID == 0 {
		return nil
	}
	return &bench.Attempt{Run: m.on.RunID, Number: m.on.Attempt}
}

func (m *measurer) writeResults(encode func(io.Writer) error) error {
	return exit.NoMeasure(output.File(m.state.path(resultsFile)).Write(encode))
}

// options returns the options that the inputs stand for, with the defaults of the command
// line for the rest.
func (m *measurer) options() (measure.Options, error) {
	o := measure.Options{
		Tool: m.Tool, Limits: m.in.thresholds, Shard: m.in.shard, Loads: runner.DefaultLoads,
		Store: m.warning(folder.Open(m.state.path(storedFolder))), Watch: m.Watch,
	}
	var err error
	o.Machines, err = m.in.machines()
	return o, err
}
