package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/keep"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// writer writes the runs so far.
type writer func(runs ...*bench.Run) error

// writer returns a writer to the file of --out.
func (f *runFlags) writer(r *measure.Running) (writer, error) {
	reads := []string{r.Judged.Limits}
	if !r.Suite.Bundled {
		reads = slices.AppendSeq(reads, maps.Keys(r.Suite.Files()))
	}
	out, err := output.New(f.out, reads)
	if err != nil {
		return nil, err
	}
	return writerOf(out), nil
}

func writerOf(out output.File) writer {
	return func(runs ...*bench.Run) error {
		return out.Write(func(w io.Writer) error { return bench.EncodeRuns(w, runs...) })
	}
}

// writeEmpty writes the run of a shard without benchmarks.
func (f *runFlags) writeEmpty(t *ui.Terminal, r *measure.Running, write writer) error {
	run, note := r.Empty()
	t.Tell(note)
	if f.format == "text" {
		return exit.NoMeasure(write(run))
	}
	return errors.Join(exit.NoMeasure(write(run)), cli.PrintRuns(t, f.format, run))
}

// prepareSave determines what --save needs before anything is measured: where the objects
// come from, and that the baseline can be read and written.
func (f *runFlags) prepareSave(ctx context.Context, t *ui.Terminal) error {
	if !f.keep {
		return nil
	}
	f.from.Complete(ctx, t)
	if _, _, err := f.store.Open().List(ctx, baseline.Query{Limit: 1}); err != nil {
		return err
	}
	if err := folder.Open(f.store.Folder).MaySave(); err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	return f.from.CheckTags(ctx, t, &f.store)
}

// save saves a whole run in the baseline.
func (f *runFlags) save(ctx context.Context, t *ui.Terminal, s *suite.Suite, runs []*bench.Run) error {
	if !f.keep {
		return nil
	}
	entries, err := keep.Entries(s, runs, f.from.Origin)
	return errors.Join(exit.NoMeasure(err), cli.SaveEntries(ctx, t, f.store.Open(), entries))
}
