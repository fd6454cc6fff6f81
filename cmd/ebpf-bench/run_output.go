package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// saver keeps the runs so far.
type saver func(runs ...*bench.Run) error

// saver writes to the file of --out. That is tried before anything is measured,
// so that a wrong path costs no time.
func (f *runFlags) saver(s *suite.Suite) (saver, error) {
	if f.out == "" {
		return func(...*bench.Run) error { return nil }, nil
	}
	if f.out == "-" {
		return nil, errors.New("--out: it is a file: --format json prints to stdout")
	}
	if _, err := os.Stat(filepath.Dir(f.out)); err != nil {
		return nil, fmt.Errorf("--out %s: %w", f.out, err)
	}
	// A link would be replaced, and what it leads to left alone.
	if info, err := os.Lstat(f.out); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("--out: %s is no regular file", f.out)
	}
	if err := f.overwrites(s); err != nil {
		return nil, err
	}
	probe, err := newOutFile(f.out)
	if err != nil {
		return nil, fmt.Errorf("--out %s: %w", f.out, err)
	}
	if err := probe.Cleanup(); err != nil {
		return nil, fmt.Errorf("--out %s: %w", f.out, err)
	}
	return func(runs ...*bench.Run) error { return writeRuns(f.out, runs) }, nil
}

// overwrites refuses to replace what the run is made from.
func (f *runFlags) overwrites(s *suite.Suite) error {
	out, err := os.Stat(f.out)
	if err != nil {
		return nil // a new file
	}
	inputs := []string{f.limits}
	if !s.Bundled {
		inputs = slices.AppendSeq(inputs, maps.Keys(s.Files()))
	}
	for _, name := range inputs {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, out) {
			return fmt.Errorf("--out: %s is a file that the run reads", f.out)
		}
	}
	return nil
}

// newOutFile is a file that takes the place of another as a whole, with its
// permissions. It lies beside it meanwhile.
func newOutFile(name string) (*renameio.PendingFile, error) {
	return renameio.NewPendingFile(name, renameio.WithTempDir(filepath.Dir(name)),
		renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
}

// writeRuns replaces the file as a whole: a crash leaves the previous one.
func writeRuns(name string, runs []*bench.Run) error {
	file, err := newOutFile(name)
	if err != nil {
		return fmt.Errorf("save results: %w", err)
	}
	defer file.Cleanup() //nolint:errcheck // a temporary file at worst
	if err := bench.EncodeAll(file, runs); err != nil {
		return fmt.Errorf("save results: %w", err)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("save results: %w", err)
	}
	return nil
}

func (f *runFlags) print(t *terminal, runs []*bench.Run) error {
	m := report.NewModel(runs...)
	m.Color = t.colored(t.stdout)
	if err := f.format.render()(t.stdout, m); err != nil {
		return noMeasure(fmt.Errorf("write results: %w", err))
	}
	return nil
}

// formatFlag is the value of --format.
type formatFlag string

var renderers = map[formatFlag]func(io.Writer, *report.Model) error{
	"text": report.Text,
	"json": report.JSON,
	"bmf":  report.BMF,
}

func (f formatFlag) render() func(io.Writer, *report.Model) error { return renderers[f] }

func (f *formatFlag) String() string { return string(*f) }
func (f *formatFlag) Type() string   { return "format" }

func (f *formatFlag) Set(s string) error {
	if renderers[formatFlag(s)] == nil {
		return errors.New("it is text, json or bmf")
	}
	*f = formatFlag(s)
	return nil
}
