package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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

// measure measures the head beside the base, or alone if there is none. The results that
// it writes are not judged.
func (s *step) measure(ctx context.Context) error {
	p, err := s.state.openPlan()
	if err != nil {
		return exit.NoMeasure(err)
	}
	if s.needsRoot() {
		return s.asRoot(ctx)
	}
	if err := s.bringHost(ctx); err != nil {
		return err
	}
	base, err := s.baseArg(p)
	if err != nil {
		return err
	}
	if base != "" {
		measured, err := s.measurePaired(ctx, p, base)
		if measured || err != nil {
			return s.withBuildHint(err)
		}
	}
	return s.withBuildHint(s.measureAlone(ctx, p))
}

// withBuildHint adds to an error about missing objects how they get built.
func (s *step) withBuildHint(err error) error {
	if !errors.Is(err, suite.ErrNoObjects) {
		return err
	}
	if s.in.build == "" {
		return bench.WithHint(err, "nothing was built: the input build is the command that makes the objects, such as make bpf")
	}
	return bench.WithHint(err, "the input build ended well and made none of that name: is it run in the right working-directory?")
}

// baseArg returns the base as compare takes it, empty if there is none.
func (s *step) baseArg(p *plan) (string, error) {
	switch p.Base {
	case baseBuilt:
		return s.baseSuite(p)
	case baseStored:
		return "baseline:" + p.Run, nil
	}
	return "", nil
}

// baseSuite returns the base's version of the suite that is measured here, empty if there is
// none.
func (s *step) baseSuite(p *plan) (string, error) {
	if file := s.suiteIn(s.state.path(baseFolder), p); file != "" {
		return file, nil
	}
	return "", s.noBase(p, lacksSuite, "the merge base has no "+s.suiteNames()[0])
}

// suiteIn returns the file in a checkout that has the same path in it as the suite that is
// measured here, empty if there is none.
func (s *step) suiteIn(checkout string, p *plan) string {
	for _, name := range s.suiteNames() {
		name, err := inCheckout(p, name)
		if err != nil || !filepath.IsLocal(name) {
			continue
		}
		file := filepath.Join(checkout, name)
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// inCheckout returns the path in the checkout of a file that is named from the working
// directory, which may be known by a symlink.
func inCheckout(p *plan, name string) (string, error) {
	if !filepath.IsAbs(name) {
		return filepath.Join(p.Prefix, name), nil
	}
	if rel, err := filepath.Rel(p.Top, name); err == nil && filepath.IsLocal(rel) {
		return rel, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(here, name)
	return filepath.Join(p.Prefix, rel), err
}

// suiteNames returns the files that may be the suite.
func (s *step) suiteNames() []string {
	if s.in.config != "" {
		return []string{s.in.config}
	}
	return suite.FileNames
}

func (s *step) suiteArgs() []string {
	if s.in.config == "" {
		return nil
	}
	return []string{s.in.config}
}

// measurePaired measures both sides in the same rounds. It reports whether there was a
// base that it could read.
func (s *step) measurePaired(ctx context.Context, p *plan, base string) (bool, error) {
	o, err := s.options()
	if err != nil {
		return false, exit.Usage(err)
	}
	if _, err := (sides.Options{Store: o.Store}).Open(ctx, base); err != nil {
		return false, s.noBase(p, lacksObjects, fmt.Sprintf("it cannot be read: %v", err))
	}
	c, err := o.Compare(ctx, append([]string{base}, s.suiteArgs()...))
	if c != nil {
		s.Watch.Tell(c.Notes...)
	}
	if err != nil {
		return false, exit.Usage(err)
	}
	c.Base.Side, c.Head.Side = p.BaseSide, p.HeadSide
	if c.Nothing() && c.Shard != nil {
		empty, note := c.Empty()
		s.Watch.Tell(note)
		return true, s.writeComparisons(empty)
	}
	doubts := s.doubts(p, c)
	comparisons, err := c.Measure(ctx, func(soFar ...*bench.Comparison) {
		doubts.mark(soFar)
		_ = s.writeComparisons(soFar...)
	})
	if len(comparisons) == 0 {
		return false, exit.NoMeasure(err)
	}
	doubts.mark(comparisons)
	off := (&judge.Judge{Policy: c.Policy}).Missed(c.Judged.Kernels, judge.Testbeds(comparisons))
	return true, errors.Join(off, exit.NoMeasure(err), s.writeComparisons(comparisons...))
}

// measureAlone measures the head alone, and keeps a run that will become a baseline.
func (s *step) measureAlone(ctx context.Context, p *plan) error {
	o, err := s.options()
	if err != nil {
		return exit.Usage(err)
	}
	o.File = s.in.config
	r, err := o.Run()
	if r != nil {
		s.Watch.Tell(r.Notes()...)
	}
	if err != nil {
		return exit.Usage(err)
	}
	write := func(runs ...*bench.Run) error {
		for _, run := range runs {
			run.NoBase, run.Workflow = string(p.Lack), s.attempt()
		}
		return s.writeResults(func(w io.Writer) error { return bench.EncodeRuns(w, runs...) })
	}
	if len(r.Plan.Jobs) == 0 {
		empty, note := r.Empty()
		s.Watch.Tell(note)
		return write(empty)
	}
	runs, err := r.Measure(ctx, write)
	if len(runs) == 0 {
		return exit.NoMeasure(err)
	}
	off := (&judge.Judge{Policy: r.Policy}).Missed(r.Judged.Kernels, judge.TestbedsOf(runs))
	return errors.Join(off, exit.NoMeasure(err), write(runs...), s.keep(ctx, p, r.Suite, runs))
}

// keep keeps the runs, with their objects, for the step that may save them. A failed run
// cannot serve as a baseline, and is reported as failed.
func (s *step) keep(ctx context.Context, p *plan, of *suite.Suite, runs []*bench.Run) error {
	if !p.Save {
		return nil
	}
	entries, err := keep.Entries(of, runs, keep.Origin{Branch: p.HeadSide.Branch, Commit: p.HeadSide.Commit})
	if err != nil {
		s.warn("%v", err)
	}
	store := folder.Open(s.state.path(savedFolder))
	for _, e := range entries {
		if _, err := store.Save(ctx, e); err != nil {
			return exit.NoMeasure(fmt.Errorf("keep the run: %w", err))
		}
	}
	return nil
}

func (s *step) writeComparisons(comparisons ...*bench.Comparison) error {
	for _, c := range comparisons {
		c.Workflow = s.attempt()
	}
	return s.writeResults(func(w io.Writer) error { return bench.EncodeComparisons(w, comparisons...) })
}

// attempt returns the attempt of the workflow that this is, nil in a local run.
func (s *step) attempt() *bench.Attempt {
	if s.on == nil || s.on.RunID == 0 {
		return nil
	}
	return &bench.Attempt{Run: s.on.RunID, Number: s.on.Attempt}
}

func (s *step) writeResults(encode func(io.Writer) error) error {
	return exit.NoMeasure(output.File(s.state.path(resultsFile)).Write(encode))
}

// options returns the options that the inputs stand for, with the defaults of the command
// line for the rest.
func (s *step) options() (measure.Options, error) {
	o := measure.Options{
		Tool: s.Tool, Limits: s.in.thresholds, Shard: s.in.shard, Loads: runner.DefaultLoads,
		Store: s.warning(folder.Open(s.state.path(storedFolder))), Watch: s.Watch,
	}
	var err error
	o.Machines, err = s.in.machines()
	return o, err
}
