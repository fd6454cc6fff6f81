package baselinecmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/keep"
	"github.com/org/ebpf-bench-action/internal/suite"
)

func (b *command) save() *cobra.Command {
	var from cli.Origin
	var suiteFile string
	cmd := &cobra.Command{
		Use:     "save RESULT",
		Short:   "Keep the results of a run, with its objects",
		Long:    "Keep the results of a run (ebpf-bench run --out) with its objects, so that a\nlater comparison can measure them again. A run that failed, even in part, is not\nkept. ebpf-bench run --save does both in one step.",
		Example: "  sudo ebpf-bench run --out result.json\n  ebpf-bench baseline save result.json",
		Args:    cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := cli.ReadRuns(cmd.Context(), args[0])
			if err != nil {
				return cli.Refused(err)
			}
			s := &suite.Suite{}
			if suiteFile != "" || !allIngested(runs) {
				if s, err = suite.Open(suiteFile); err != nil {
					return exit.Usage(err)
				}
			}
			from.Complete(cmd.Context(), b.t)
			if err := from.CheckTags(cmd.Context(), b.t, &b.store); err != nil {
				return cli.Refused(err)
			}
			entries, err := keep.Entries(s, runs, from.Origin)
			if err != nil {
				return exit.Usage(err)
			}
			return cli.SaveEntries(cmd.Context(), b.t, b.open(), entries)
		},
	}
	from.Register(cmd)
	cli.SuiteFlag(cmd, &suiteFile, "the suite `file` of the run (default: ebpf-bench.yml)")
	return cmd
}

// allIngested reports whether another tool measured everything, so that there are no suite
// and no objects.
func allIngested(runs []*bench.Run) bool {
	return !slices.ContainsFunc(runs, func(run *bench.Run) bool {
		return slices.ContainsFunc(run.Results, func(r bench.Result) bool { return !r.Ingested() })
	})
}
