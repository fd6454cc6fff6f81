package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/keep"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// writer writes the runs so far.
type writer func(runs ...*bench.Run) error

// writer writes to the file of --out.
func (f *runFlags) writer(r *measure.Running) (writer, error) {
	reads := []string{r.Judged.Limits}
	if !r.Suite.Bundled {
		reads = slices.AppendSeq(reads, maps.Keys(r.Suite.Files()))
	}
	out, err := output.New(f.out, reads)
	if err != nil {
		return nil, err
	}
	return func(runs ...*bench.Run) error {
		return out.Write(func(w io.Writer) error { return bench.EncodeAll(w, runs) })
	}, nil
}

// writeEmpty writes the run of a shard without benchmarks.
func (f *runFlags) writeEmpty(t *ui.Terminal, r *measure.Running, write writer) error {
	run, note := r.Empty()
	t.Tell(note)
	if f.format == "text" {
		return exit.NoMeasure(write(run))
	}
	return errors.Join(exit.NoMeasure(write(run)), printResults(t, f.format, run))
}

// prepareSave finds out what --save takes before anything is measured: where
// the objects come from, and that the baseline can be read and written.
func (f *runFlags) prepareSave(ctx context.Context, t *ui.Terminal) error {
	if !f.keep {
		return nil
	}
	f.from.complete(ctx, t)
	if _, _, err := f.store.open().List(ctx, baseline.Query{Limit: 1}); err != nil {
		return err
	}
	if err := baseline.Open(f.store.folder).MaySave(); err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	return f.from.checkTags(ctx, t, &f.store)
}

// save keeps what was measured as a whole in the baseline.
func (f *runFlags) save(ctx context.Context, t *ui.Terminal, s *suite.Suite, runs []*bench.Run) error {
	if !f.keep {
		return nil
	}
	entries, err := keep.Entries(s, runs, f.from.Origin)
	return errors.Join(exit.NoMeasure(err), saveEntries(ctx, t, f.store.open(), entries))
}

func printResults(t *ui.Terminal, format formatFlag, runs ...*bench.Run) error {
	m := report.NewModel(runs...)
	m.Color = t.Colored(t.Stdout)
	m.Explained = sameStream(t.Stdout, t.Stderr)
	if err := format.render()(t.Stdout, m); err != nil {
		return exit.NoMeasure(fmt.Errorf("write results: %w", err))
	}
	return nil
}

// sameStream tells whether what goes to both writers ends in the same place: a
// terminal, a log. There, errors are read right below the results.
func sameStream(a, b io.Writer) bool {
	x, ok := a.(*os.File)
	y, both := b.(*os.File)
	if !ok || !both {
		return false
	}
	first, err := x.Stat()
	if err != nil {
		return false
	}
	second, err := y.Stat()
	return err == nil && os.SameFile(first, second)
}

// formatFlag is the value of --format.
type formatFlag string

var renderers = map[formatFlag]func(io.Writer, *report.Model) error{
	"text":    report.Text,
	"json":    report.JSON,
	"bmf":     report.BMF,
	"gobench": report.GoBench,
	"csv":     report.CSV,
}

// runFormats are the formats of runs, in the order of the documentation.
var runFormats = []string{"text", "json", "bmf", "gobench", "csv"}

func (f formatFlag) render() func(io.Writer, *report.Model) error { return renderers[f] }

func (f *formatFlag) String() string { return string(*f) }
func (f *formatFlag) Type() string   { return "format" }

func (f *formatFlag) Set(s string) error {
	if renderers[formatFlag(s)] == nil {
		return errors.New("it is text, json, bmf, gobench or csv")
	}
	*f = formatFlag(s)
	return nil
}
