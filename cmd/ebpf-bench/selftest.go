package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/selftest"
	"github.com/org/ebpf-bench-action/internal/ui"
)

const gateExample = `  # a quick look: 20 tries each
  sudo ebpf-bench selftest gate

  # the same, of programs attached to a tracepoint
  sudo ebpf-bench selftest gate --driver command

  # the figures of docs/figures.md
  sudo ebpf-bench selftest gate --tries 100 --same 1000 --out gate.json`

func newSelftestCommand(t *ui.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Measure the gate's error rates on this machine",
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGateCommand(t))
	return cmd
}

// gateFlags say how long the gate is tested, and by what.
type gateFlags struct {
	tries, same int
	budget      time.Duration
	driver      string
	seed        uint64
	format      string
	out         string
}

func newGateCommand(t *ui.Terminal) *cobra.Command {
	f := gateFlags{}
	cmd := &cobra.Command{
		Use:     "gate",
		Short:   "Measure the gate's error rates on this machine",
		Long:    "Compare the bundled programs with themselves, which must raise no alarm, and\nprograms with a known amount of extra work, which must be caught. The allowances\nof the thresholds are 0, so the rates are those of the measurement.\n\nIn the table, time is the budget of a comparison and its confirmation, and took\nis the time that it took in all.",
		Example: gateExample,
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.tries < 0 || f.same < 0 || f.tries+f.same == 0 || f.budget < 0 {
				return cli.UsageError(cmd, errors.New("--tries, --same and --budget must not be negative, nor nothing"))
			}
			if f.format != "text" && f.format != "json" {
				return cli.UsageError(cmd, fmt.Errorf("--format %s: it is text or json", f.format))
			}
			if f.driver != "" && !slices.Contains(selftest.Drivers(), f.driver) {
				return cli.UsageError(cmd, fmt.Errorf("--driver %s: it is one of %s", f.driver, strings.Join(selftest.Drivers(), ", ")))
			}
			return f.run(cmd.Context(), t)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.tries, "tries", 20, "how often to look for each amount of extra work")
	flags.IntVar(&f.same, "same", 40, "how many comparisons of a benchmark with itself")
	flags.DurationVar(&f.budget, "budget", 0, "measuring time of each comparison, the confirming one included (default: 2s,\nand more for small effects)")
	flags.StringVar(&f.driver, "driver", "", "what runs the programs: "+strings.Join(selftest.Drivers(), ", ")+" (default: test_run,\nand the bundled suite for comparisons without extra work)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first comparison; each takes the next")
	flags.StringVar(&f.format, "format", "text", "what to print on stdout: text or json")
	flags.StringVarP(&f.out, "out", "o", "", "also write the figures as JSON to this `file`")
	_ = cmd.MarkFlagFilename("out", "json")
	return cmd
}

func (f *gateFlags) run(ctx context.Context, t *ui.Terminal) error {
	out, err := output.New(f.out, nil)
	if err != nil {
		return exit.Usage(err)
	}
	r, err := selftest.Options{Tool: version(), Tries: f.tries, Same: f.same, Budget: f.budget, Driver: f.driver, Seed: f.seed, Say: t.Say}.Gate(ctx)
	write := func(w io.Writer) error { return json.NewEncoder(w).Encode(r) }
	print := r.Print
	if f.format == "json" {
		print = write
	}
	return errors.Join(out.Write(write), print(t.Stdout), exit.NoMeasure(err))
}
