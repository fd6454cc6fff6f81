package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/job"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report/searched"
	"github.com/org/ebpf-bench-action/internal/scaffold"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

const searchLong = `Look for the inputs on which programs cost most, and for those that reach all of
them. A benchmark shows what a program costs on the packets that somebody thought
of; a search finds out on which others it costs more.

It runs a copy of each program that counts its own blocks on one input after the
other, by test_run, and keeps those that execute something new, or more. It changes
packets with their lengths and checksums, fields of the context, and entries of the
maps that the program looks up; up to four packets follow one another, for programs
that remember. Every input finds maps as the benchmark prepares them.

What it shows was counted once more, each input from a fresh load, and executed the
same each time: the default input, which is the benchmark's own, the worst, the
worst that puts nothing in maps, and those that reach the rest.

Without arguments it searches the programs of the suite. PROGRAM is a benchmark or
a program of it. BUILD is an object such as prog.o, one program of it such as
prog.o:xdp_main, a folder of objects, or what the baseline has, such as
baseline:main.

Only programs to which test_run gives an input are searched: XDP, tc and the other
types that take packets, raw tracepoints, and syscall programs.

With --kernel they are searched in a virtual machine. If it counts instructions, its
clock tells no time, and 20000 inputs of each program are tried unless --runs says
otherwise.`

const searchExample = `  # the worst packet of a bundled program
  sudo ebpf-bench search fibonacci_slow

  # all programs of an object, a second each
  sudo ebpf-bench search --time 1s build/xdp.o

  # the same search again
  sudo ebpf-bench search --runs 20000 --seed 1 build/xdp.o:xdp_main

  # on another kernel, without root
  ebpf-bench search --kernel 6.12 fibonacci_slow`

type searchFlags struct {
	suite    string
	time     time.Duration
	runs     int
	seed     uint64
	format   string
	out      []string
	verbose  bool
	store    cli.Store
	machines cli.MachineFlags
}

func newSearchCommand(t *ui.Terminal) *cobra.Command {
	f := searchFlags{format: "text"}
	cmd := &cobra.Command{
		Use:     "search [flags] [PROGRAM | BUILD]...",
		Short:   "Find the inputs on which programs cost most",
		Long:    searchLong,
		Example: searchExample,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return completeNames(f.suite, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return cli.UsageError(cmd, err)
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	flags := cmd.Flags()
	f.machines.Register(cmd)
	f.store.Register(cmd)
	cli.SuiteFlag(cmd, &f.suite, "the suite `file` (default: ./ebpf-bench.yml, else the bundled one)")
	flags.DurationVar(&f.time, "time", 0, "how long to search for inputs of each program (default: 10s, or until --runs)")
	flags.IntVar(&f.runs, "runs", 0, "how many inputs to try of each program (default: as many as --time allows)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the search: with the same one, --runs finds the same")
	searchFormats.Register(cmd, &f.format, "what to print: text, json")
	flags.StringSliceVarP(&f.out, "out", "o", nil, "also write what was found to this `file`, after each program: a suite (.yml),\nthe packets (.pcap) or all of it (.json); may be repeated")
	_ = cmd.MarkFlagFilename("out", "yml", "yaml", "json", "pcap")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "print the verifier's whole log when it refuses a program")
	return cmd
}

var searchFormats = cli.Formats[*searched.Model]{
	{"text", searched.Text},
	{"json", searched.JSON},
}

// timedInputs is how many of the inputs that cost most are timed.
const timedInputs = 5

// mostTries is how many inputs a search may be asked to try.
const mostTries = 1_000_000_000

// check refuses wrong flags. given reports whether a flag was given.
func (f *searchFlags) check(given func(flag string) bool) error {
	switch {
	case given("time") && f.time <= 0 || f.time > 24*time.Hour:
		return errors.New("--time must be more than 0 and at most 24h")
	case given("runs") && f.runs < 1 || f.runs > mostTries:
		return fmt.Errorf("--runs must be from 1 to %d", mostTries)
	case f.seed == 0:
		return errors.New("--seed must be from 1 on")
	}
	for _, name := range f.out {
		if end := endOf(name); end != jsonEnd && foundWriters[end] == nil {
			return fmt.Errorf("--out %q: no format ends so: a suite ends in .yml, packets in .pcap, and all of it in .json", name)
		}
	}
	return nil
}

// foundWriters write what a search found, by the ends of files, except for jsonEnd.
var foundWriters = map[string]func(io.Writer, *scaffold.Found) error{
	".pcap": func(w io.Writer, found *scaffold.Found) error { return found.Pcap(w) },
	".yaml": writeFoundSuite,
	".yml":  writeFoundSuite,
}

// jsonEnd is the end of a file that may have searches on several kernels.
const jsonEnd = ".json"

func writeFoundSuite(w io.Writer, found *scaffold.Found) error {
	text, err := found.Text()
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

func (f *searchFlags) run(ctx context.Context, t *ui.Terminal, args []string) error {
	s, err := sides.Options{Command: "search", Suite: f.suite, Store: f.store.Open(), Filter: regexp.MustCompile("")}.Search(ctx, args)
	if err != nil {
		return exit.Usage(err)
	}
	head, err := s.HeadSuite()
	if err != nil {
		return exit.Usage(err)
	}
	programs, err := runner.PlanSearches(head)
	if err != nil {
		return exit.Usage(err)
	}
	if len(programs.Jobs) == 0 {
		return exit.Usage(bench.WithHint(errors.New("there is nothing to search: "+strings.Join(programs.Warnings(), "; ")), "see ebpf-bench search --help"))
	}
	for _, w := range programs.Warnings() {
		t.Warn("%s", w)
	}
	kernels := f.machines.Choose(s.Suite.Kernels)
	if err := f.bound(kernels); err != nil {
		return exit.Usage(err)
	}
	out, err := f.files(s, programs, head, kernels)
	if err != nil {
		return exit.Usage(err)
	}
	save := func(found ...*bench.Search) {
		// The error is reported when the whole search is written.
		_ = out.write(found...)
	}
	var all []*bench.Search
	if len(kernels) == 0 {
		all, err = searchHere(ctx, t, programs, f.options(), save)
	} else {
		all, err = searchOn(ctx, t, &f.machines, kernels, s.Suite, &s.Objects, programs, f.options(), save)
	}
	if len(all) == 0 {
		return exit.NoMeasure(err)
	}
	err = errors.Join(exit.NoMeasure(f.print(t, all)), exit.NoMeasure(err), judge.Unsearched(all, f.verbose, err))
	if wrote := out.write(all...); wrote != nil {
		return errors.Join(exit.NoMeasure(wrote), err)
	}
	out.say(t, all)
	return err
}

// bound decides how long a search takes. Only a clock that tells the time can.
func (f *searchFlags) bound(kernels []string) error {
	switch counts := len(kernels) > 0 && f.machines.Mode != "kvm"; {
	case counts && f.time > 0:
		return errors.New("--time: the clock of a virtual machine that counts instructions tells no time: give --runs")
	case !counts && f.time == 0 && f.runs == 0:
		f.time = 10 * time.Second
	}
	return nil
}

// options are those of each search.
func (f *searchFlags) options() runner.SearchOptions {
	return runner.SearchOptions{Runs: f.runs, Time: f.time, Seed: f.seed, Timed: timedInputs}
}

// foundFiles are the files of --out.
type foundFiles struct {
	names    []output.File
	searched *suite.Suite
	kernels  []string
}

// files checks the files of --out before anything is searched.
func (f *searchFlags) files(s *sides.Explained, programs *runner.Searches, head *suite.Suite, kernels []string) (*foundFiles, error) {
	all := &foundFiles{searched: head, kernels: kernels}
	for _, name := range f.out {
		file, err := output.New(name, s.Reads(f.suite))
		if err != nil {
			return nil, err
		}
		if slices.Contains(all.names, file) {
			return nil, fmt.Errorf("--out %s is given twice", name)
		}
		all.names = append(all.names, file)
		if len(kernels) > 1 && endOf(name) != jsonEnd {
			return nil, bench.WithHint(fmt.Errorf("--out %s: a search on each of %s may find other inputs", name, unit.Plural(len(kernels), "kernel")), "write all of them as .json, or search on one kernel: the inputs can be measured on the others")
		}
		for _, j := range programs.Jobs {
			if !isSuite(name) {
				break
			}
			if _, err := head.FromFolder(j.Object.Path, filepath.Dir(name)); err != nil {
				return nil, fmt.Errorf("--out %s: %w", name, err)
			}
		}
	}
	return all, nil
}

func endOf(name string) string { return strings.ToLower(filepath.Ext(name)) }

func isSuite(name string) bool { return slices.Contains([]string{".yml", ".yaml"}, endOf(name)) }

// write writes all files. Of several searches, all of them are such as have these.
func (f *foundFiles) write(all ...*bench.Search) error {
	var errs []error
	for _, file := range f.names {
		err := file.Write(func(w io.Writer) error {
			if endOf(string(file)) == jsonEnd {
				return bench.EncodeSearches(w, all...)
			}
			return foundWriters[endOf(string(file))](w, &scaffold.Found{Searched: f.searched, Search: all[0], Folder: filepath.Dir(string(file))})
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", file, err))
		}
	}
	return errors.Join(errs...)
}

// say says what was written, and what to do with it.
func (f *foundFiles) say(t *ui.Terminal, all []*bench.Search) {
	inputs, beyond, worst := sums(all)
	written := ""
	for _, file := range f.names {
		t.Say("wrote %s", file)
		if isSuite(string(file)) && written == "" {
			written = escape.Shell(string(file))
		}
		if endOf(string(file)) == ".pcap" && beyond > 0 {
			t.Warn("%s holds packets alone: %d of %s also give a context, or entries of maps", file, beyond, unit.Plural(inputs, "input"))
		}
	}
	tool, where := "sudo ebpf-bench", ""
	if len(f.kernels) > 0 {
		tool, where = "ebpf-bench", " --kernel "+f.kernels[0]
	}
	switch {
	case inputs == 0 || len(f.kernels) > 1:
	case written == "":
		t.Say("--out found.yml writes a suite of these inputs, for run, compare and explain")
	default:
		t.Say("measure them by: %s run%s %s", tool, where, written)
		if worst != "" {
			t.Say("explain the worst by: %s explain%s --suite %s %s", tool, where, written, escape.Shell(worst))
		}
	}
}

// sums returns how many inputs were found, how many of them are more than packets, and the
// name of the one that costs most in comparison with the default.
func sums(all []*bench.Search) (inputs, beyond int, worst string) {
	more := 0.0
	for _, found := range all {
		for i := range found.Programs {
			p := &found.Programs[i]
			base := 0.0
			for j := range p.Inputs {
				in := &p.Inputs[j]
				if inputs++; in.Context != "" || len(in.Entries) > 0 {
					beyond++
				}
				switch {
				case in.Name == bench.InputDefault:
					base = in.PerRun
				case in.Name == bench.InputWorst && (worst == "" || in.PerRun/base > more):
					worst, more = p.Benchmark+"/"+in.Name, in.PerRun/base
				}
			}
		}
	}
	return inputs, beyond, worst
}

// searchOn searches on each of the kernels. After each program, save gets what was found so
// far.
func searchOn(ctx context.Context, t *ui.Terminal, m *cli.MachineFlags, kernels []string, s *suite.Suite, objects *sides.Objects, programs *runner.Searches, o runner.SearchOptions, save func(...*bench.Search)) ([]*bench.Search, error) {
	on, err := m.Open(cli.Watch{Terminal: t}, kernels)
	if err != nil {
		return nil, err
	}
	return job.Options{ByDefault: m.ByDefault(s.Kernels), Done: func(release string, took time.Duration) {
		t.Say("searched on Linux %s in %.1f s", release, took.Seconds())
	}}.Searches(ctx, on, kernels, s, objects, programs.Jobs, o, save)
}

// searchHere searches on this host, and shows how far it is. After each program, save gets
// what was found so far.
func searchHere(ctx context.Context, t *ui.Terminal, programs *runner.Searches, o runner.SearchOptions, save func(...*bench.Search)) ([]*bench.Search, error) {
	n := len(programs.Jobs)
	how := fmt.Sprintf("%s each", o.Time)
	if o.Runs > 0 {
		how = unit.Plural(o.Runs, "input") + " each"
	}
	if !ui.IsTerminal(t.Stderr) {
		t.Say("searching %s, %s", unit.Plural(n, "program"), how)
	}
	stage := t.Stage("search")
	defer stage.End()
	o.Save = func(found *bench.Search) { save(found) }
	o.Progress = func(p runner.SearchProgress) {
		what := programs.Jobs[p.Program].Name
		if n > 1 {
			what += fmt.Sprintf(" (%d of %d)", p.Program+1, n)
		}
		switch {
		case p.Timing > 0:
			what += ": timing " + unit.Plural(p.Timing, "input")
		case p.Inputs > 0:
			what += fmt.Sprintf(": counting input %d of %d", p.Counted+1, p.Inputs)
		case p.Tried > 0:
			what += fmt.Sprintf(": %s, %s reached, at most %s instructions", unit.Plural(p.Tried, "input"), unit.Plural(p.Reached, "block"), unit.Mean(p.Most))
		}
		stage.Set(what)
	}
	found, err := runner.Search(ctx, programs.Jobs, runner.Options{Tool: version()}, o)
	if err = fleet.Interrupted(ctx, err); found == nil || ctx.Err() != nil && len(found.Programs) == 0 {
		return nil, err
	}
	return []*bench.Search{found}, err
}

func (f *searchFlags) print(t *ui.Terminal, all []*bench.Search) error {
	m := searched.New(all...)
	m.Color, m.Columns = t.Colored(t.Stdout), t.Columns()
	m.Explained = f.format == "text" && cli.SameStream(t.Stdout, t.Stderr)
	if err := searchFormats.Of(f.format)(t.Stdout, m); err != nil {
		return fmt.Errorf("write what was found: %w", err)
	}
	return nil
}
