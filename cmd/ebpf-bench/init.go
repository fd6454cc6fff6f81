package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/scaffold"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

const initLong = `Write a suite for objects that have none: a benchmark for each program, with a
driver that suits its type, and comments on what can be set.

OBJECT is an ELF object or a folder; by default, all objects below this folder,
except those in hidden folders, node_modules and vendor.

Each program is run for an instant: on this host as root, or with --kernel in
virtual machines, which needs no root. A program that does not load becomes a
comment with the reason, and one that loads but cannot run gets no workload, so
the suite always runs. Without root and without --kernel nothing is tried.

With --search each program is given 20000 inputs, and the suite also has those on
which it costs most, and those that reach the rest of it: see ebpf-bench search.`

const initExample = `  # a suite for all objects below this folder
  sudo ebpf-bench init

  # for some of them, tried on other kernels, which takes no root
  ebpf-bench init --kernel 6.1,6.12 bpf/filter.o build/

  # with the inputs on which the programs cost most
  sudo ebpf-bench init --search

  # with thresholds and a workflow for GitHub
  sudo ebpf-bench init --github --thresholds

  # just look at it
  ebpf-bench init --no-check --out - bpf/filter.o`

type initFlags struct {
	out        string
	force      bool
	github     bool
	build      string
	thresholds bool
	noCheck    bool
	search     bool
	machines   cli.MachineFlags
}

// The files that init writes beside the suite.
const (
	thresholdsName = "thresholds.yml"
	workflowName   = ".github/workflows/ebpf-bench.yml"
)

func newInitCommand(t *ui.Terminal) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:     "init [flags] [OBJECT|FOLDER ...]",
		Short:   "Write a suite for objects that have none",
		Long:    initLong,
		Example: initExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return cli.UsageError(cmd, err)
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.machines.Register(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", suite.FileNames[0], "write the suite to this `file`; - is stdout")
	flags.BoolVar(&f.force, "force", false, "replace files that are there")
	flags.BoolVar(&f.github, "github", false, "also write the workflow "+workflowName)
	flags.StringVar(&f.build, "build", "", "the `command` that builds the objects, for --github (default: what the project looks like)")
	flags.BoolVar(&f.thresholds, "thresholds", false, "also write "+thresholdsName+", which the suite then names")
	flags.BoolVar(&f.noCheck, "no-check", false, "do not load and run the programs")
	flags.BoolVar(&f.search, "search", false, "also search for the inputs on which programs cost most")
	_ = cmd.MarkFlagFilename("out", "yml", "yaml")
	return cmd
}

func (f *initFlags) check(given func(flag string) bool) error {
	switch {
	case f.out == "":
		return errors.New("--out names no file")
	case f.out == "-" && (f.github || f.thresholds):
		return errors.New("--out - prints the suite alone: --github and --thresholds write files that name it")
	case f.noCheck && (len(f.machines.Kernels) > 0 || f.machines.Mode != ""):
		return errors.New("--no-check cannot be combined with --kernel or --vm")
	case f.noCheck && f.search:
		return errors.New("--search runs the programs, and --no-check forbids it")
	case given("build") && !f.github:
		return errors.New("--build is for the workflow: add --github")
	}
	return nil
}

func (f *initFlags) run(ctx context.Context, t *ui.Terminal, args []string) error {
	files, err := f.files(ctx, t, args)
	if err != nil {
		return exit.Usage(err)
	}
	found, err := scaffold.Find(ctx, args, filepath.Dir(f.out))
	if found != nil {
		for _, note := range found.Notes {
			t.Say("%s", note)
		}
	}
	if err != nil {
		return cli.Refused(err)
	}
	var workflow *scaffold.Workflow
	if f.github {
		if workflow, err = found.Workflow(ctx, f.out, f.build); err != nil {
			return exit.Usage(err)
		}
	}
	s, err := found.Suite()
	if err != nil {
		return exit.Usage(err)
	}
	s.Kernels = f.machines.Kernels
	if err := f.try(ctx, t, s); err != nil {
		return err
	}
	if len(s.Benchmarks()) == 0 {
		return exit.NoMeasure(s.Nothing(!f.noCheck))
	}
	if f.thresholds {
		s.Thresholds = thresholdsName
	}
	return files.write(t, s, workflow)
}

// initFiles are the files that init writes.
type initFiles struct{ suite, thresholds, workflow string }

// files refuses to replace existing files, before anything is done.
func (f *initFlags) files(ctx context.Context, t *ui.Terminal, objects []string) (w initFiles, err error) {
	w.suite = f.out
	if f.thresholds {
		w.thresholds = filepath.Join(filepath.Dir(f.out), thresholdsName)
	}
	if f.github {
		root := git.Output(ctx, "rev-parse", "--show-toplevel")
		if root == "" {
			return w, bench.WithHint(errors.New("--github: this folder is in no git repository"), "the workflow belongs into .github/workflows of one: git init makes one")
		}
		w.workflow = filepath.Join(root, filepath.FromSlash(workflowName))
	}
	for _, name := range []string{w.suite, w.thresholds, w.workflow} {
		if name == "" || name == "-" {
			continue
		}
		if name != w.workflow { // its folder is created
			if _, err := output.New(name, objects); err != nil {
				return w, err
			}
		}
		if _, err := os.Lstat(name); err == nil && !f.force {
			return w, bench.WithHint(fmt.Errorf("%s exists already", name), "--force replaces it; --out - prints what would be written")
		}
	}
	return w, nil
}

func (w *initFiles) write(t *ui.Terminal, s *scaffold.Suite, workflow *scaffold.Workflow) error {
	if w.suite == "-" {
		_, err := t.Stdout.Write([]byte(s.Text()))
		return exit.NoMeasure(err)
	}
	type file struct{ name, text string }
	all := []file{{w.suite, s.Text()}}
	if w.thresholds != "" {
		all = append(all, file{w.thresholds, s.ThresholdsText()})
	}
	if w.workflow != "" {
		all = append(all, file{w.workflow, workflow.Text()})
	}
	for _, f := range all {
		if f.name == w.workflow {
			if err := os.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
				return exit.NoMeasure(err)
			}
		}
		if err := replaceFile(f.name, f.text); err != nil {
			return exit.NoMeasure(err)
		}
		t.Say("wrote %s", f.name)
	}
	w.sayNext(t, s)
	return nil
}

// sayNext says what the suite contains, and how to run it.
func (w *initFiles) sayNext(t *ui.Terminal, s *scaffold.Suite) {
	benchmarks := s.Benchmarks()
	var loaded, left, inputs int
	for i := range s.Programs {
		if p := &s.Programs[i]; p.Refused != "" || p.Untyped {
			left++
		}
	}
	for _, p := range benchmarks {
		inputs += len(p.Inputs)
		if p.Drives() == bench.DriverVerify {
			loaded++
		}
		if p.Misspelled() {
			t.Warn("%s is only loaded: %s", p.Benchmark, p.Undriven)
		}
	}
	text := unit.Plural(len(benchmarks)+inputs, "benchmark")
	if inputs > 0 {
		text += fmt.Sprintf(", %d of them of inputs that were found", inputs)
	}
	if loaded > 0 {
		text += fmt.Sprintf(", %d of them only loaded", loaded)
	}
	if left > 0 {
		text += fmt.Sprintf("; %s left in a comment with the reason", unit.Plural(left, "program"))
	}
	command := "sudo ebpf-bench run"
	if len(s.Kernels) > 0 {
		command = "ebpf-bench run"
	}
	if w.suite != suite.FileNames[0] {
		command += " " + w.suite
	}
	t.Say("%s; measure by: %s", text, command)
}

func replaceFile(name, text string) error {
	err := output.Replace(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
