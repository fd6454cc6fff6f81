package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
)

// saver keeps the runs so far.
type saver func(runs ...*bench.Run) error

// saver writes to the file of --out. That is tried before anything is measured,
// so that a wrong path costs no time.
func (f *runFlags) saver() (saver, error) {
	if f.out == "" {
		return func(...*bench.Run) error { return nil }, nil
	}
	if f.out == "-" {
		return nil, errors.New("--out: it is a file: --format json prints to stdout")
	}
	if _, err := os.Stat(filepath.Dir(f.out)); err != nil {
		return nil, fmt.Errorf("--out %s: %w", f.out, err)
	}
	if info, err := os.Stat(f.out); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("--out: %s is no regular file", f.out)
	}
	probe, err := renameio.NewPendingFile(f.out)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	if err := probe.Cleanup(); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return func(runs ...*bench.Run) error { return writeRuns(f.out, runs) }, nil
}

// writeRuns replaces the file as a whole: a crash leaves the previous one.
func writeRuns(name string, runs []*bench.Run) error {
	file, err := renameio.NewPendingFile(name, renameio.WithPermissions(0o644))
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
