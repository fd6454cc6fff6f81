package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/ingest"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

const ingestLong = `Read what another tool measured in user space, so that the same gate judges it:
compare, thresholds, baseline.

FILE is the output of go test -bench, also with -json, or of cargo criterion
--message-format=json; FOLDER is target/criterion, or a project that has it.
Without an argument, or for -, stdin is read.

latency is the time of an operation, allocs and heap-bytes are what Go prints
with -benchmem, and other units are measures of that name, such as records/op.
More is better for rates (*/s), and less for costs such as p99-ns/op. For other
units say which, with --higher or --lower, or with a line "Unit records/op
better=higher" in FILE; otherwise a change beyond the threshold is inconclusive.
Each value counts as a measurement of its own, so let go test measure several
times, at best in several processes. The results count as measured on this
machine, unless the output names another CPU.

With --into the results are added to a file that ebpf-bench run wrote.`

const ingestExample = `  # ten measurements of each benchmark, as results of a run
  go test -bench . -count 10 ./... | ebpf-bench ingest --out user.json

  # beside those of the programs, in one file, and judged by its thresholds
  sudo ebpf-bench run --out run.json
  go test -bench . -count 10 ./agent | ebpf-bench ingest --into run.json
  ebpf-bench merge --thresholds thresholds.yml run.json

  # two of them compared, as a gate
  ebpf-bench compare --strict main.json user.json

  # criterion
  cargo bench && ebpf-bench ingest --out user.json target/criterion`

type ingestFlags struct {
	out    string
	into   string
	higher []string
	lower  []string
	format string
}

func newIngestCommand(t *ui.Terminal) *cobra.Command {
	f := ingestFlags{format: "text"}
	cmd := &cobra.Command{
		Use:     "ingest [flags] [FILE|FOLDER ...]",
		Short:   "Read the results of go test -bench and criterion",
		Long:    ingestLong,
		Example: ingestExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), t, cmd.InOrStdin(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "also write the results as JSON to this `file`")
	flags.StringVar(&f.into, "into", "", "add to the results of this `file`, in place, or with --out as another file")
	flags.StringArrayVar(&f.higher, "higher", nil, "more of this `unit` of the benchmarks' own is better, such as records/op (repeatable)")
	flags.StringArrayVar(&f.lower, "lower", nil, "less of this `unit` is better (repeatable)")
	cli.RunFormats.RegisterTables(cmd, t, &f.format, "what to print on stdout: text, json, bmf (for Bencher), gobench (for benchstat) or csv")
	_ = cmd.MarkFlagFilename("out", "json")
	_ = cmd.MarkFlagFilename("into", "json")
	return cmd
}

func (f *ingestFlags) run(ctx context.Context, t *ui.Terminal, stdin io.Reader, args []string) error {
	out, err := f.outFile(args)
	if err != nil {
		return exit.Usage(err)
	}
	set := &ingest.Set{}
	if len(args) == 0 {
		args = []string{"-"}
	}
	for i, arg := range args {
		if slices.Contains(args[:i], arg) {
			return exit.Usage(fmt.Errorf("%s is named twice: its results would count twice", arg))
		}
		if err := readIngested(ctx, set, stdin, arg); err != nil {
			return cli.Refused(err)
		}
	}
	if err := f.directions(set); err != nil {
		return exit.Usage(err)
	}
	var runs []*bench.Run
	if f.into != "" {
		// Two that add to the same file lose nothing.
		unlock, err := output.Lock(ctx, filepath.Dir(f.into))
		if err != nil {
			return exit.Usage(fmt.Errorf("--into %s: %w", f.into, err))
		}
		defer unlock()
		if runs, err = cli.ReadRuns(ctx, f.into); err != nil {
			return cli.Refused(err)
		}
	}
	run := f.newRun(t, set)
	if runs, err = addRun(runs, run); err != nil {
		return exit.Usage(err)
	}
	return errors.Join(out.Write(func(w io.Writer) error { return bench.EncodeRuns(w, runs...) }),
		cli.PrintRuns(t, f.format, runs...), judge.Failures([]*bench.Run{run}, false, nil), failedPackages(set))
}

// directions sets which direction is better for units.
func (f *ingestFlags) directions(set *ingest.Set) error {
	for _, unit := range f.higher {
		if slices.Contains(f.lower, unit) {
			return fmt.Errorf("--higher and --lower cannot both be for %q", unit)
		}
		if err := set.Better(unit, bench.HigherIsBetter); err != nil {
			return fmt.Errorf("--higher: %w", err)
		}
	}
	for _, unit := range f.lower {
		if err := set.Better(unit, bench.LowerIsBetter); err != nil {
			return fmt.Errorf("--lower: %w", err)
		}
	}
	return nil
}

// outFile returns the file for the results: the one that they are added to, unless another
// is named.
func (f *ingestFlags) outFile(args []string) (output.File, error) {
	if f.out != "" {
		return output.New(f.out, append(args, f.into))
	}
	return output.New(f.into, args)
}

// readIngested reads one argument into the set.
func readIngested(ctx context.Context, set *ingest.Set, stdin io.Reader, arg string) error {
	if arg == "-" {
		if file, ok := stdin.(*os.File); ok && ui.IsTerminal(file) {
			return exit.Usage(bench.WithHint(errors.New("there is nothing to read: stdin is a terminal"), "pipe the output of go test -bench into it, or name a file"))
		}
		return named("stdin", set.Read(stdin))
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return named(arg, set.ReadFolder(os.DirFS(arg)))
	}
	file, err := input.Open(ctx, arg)
	if err != nil {
		return exit.Usage(err)
	}
	defer file.Close()
	return named(arg, set.Read(file))
}

func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return bench.WithHint(fmt.Errorf("read %s: %w", name, err), bench.Hint(err))
}

// newRun returns the results as a run on this machine, or on another one if the output
// names another CPU. About that one, only what the output says is known.
func (f *ingestFlags) newRun(t *ui.Terminal, set *ingest.Set) *bench.Run {
	run := &bench.Run{
		Tool: version(), Started: time.Now().UTC().Truncate(time.Second),
		Testbed: probe.Testbed(), Partial: len(set.Failed) > 0, Results: set.Results(),
	}
	run.Testbed.Asked = fleet.Host
	if set.CPU != "" && !probe.IsThisCPU(set.CPU) {
		t.Warn("this was measured on another machine, with CPU %q: take it in there, so that its kernel is known", set.CPU)
		run.Testbed = bench.Testbed{Mode: bench.ModeHost, Kernel: "unknown", KernelBuild: "unknown", Arch: set.Arch, CPU: set.CPU, JIT: "unknown"}
	}
	return run
}

// addRun adds a run to others: to the one with the same testbed, if there is one.
func addRun(runs []*bench.Run, run *bench.Run) ([]*bench.Run, error) {
	for _, other := range runs {
		if baseline.Key(other.Testbed) != baseline.Key(run.Testbed) {
			continue
		}
		for i := range run.Results {
			name := run.Results[i].Benchmark
			if slices.ContainsFunc(other.Results, func(r bench.Result) bool { return r.Benchmark == name }) {
				return nil, bench.WithHint(fmt.Errorf("the results have a benchmark %q already", name), "take it in only once, or into another file by --out")
			}
		}
		other.Results = append(other.Results, run.Results...)
		other.Partial = other.Partial || run.Partial
		return runs, nil
	}
	return append(runs, run), nil
}

// failedPackages returns an error that names the packages that failed: their benchmarks
// may be missing.
func failedPackages(set *ingest.Set) error {
	if len(set.Failed) == 0 {
		return nil
	}
	return exit.NoMeasure(bench.WithHint(fmt.Errorf("go test failed in %s: benchmarks of it may be missing", unit.Few(unit.Unique(set.Failed))), "see its output"))
}
