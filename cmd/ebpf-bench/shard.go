package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/thresholds"
)

const shardUsage = "measure only this `part` of the benchmarks, such as 2/8, for ebpf-bench merge"

// shardFlag is the value of --shard; the zero one is everything.
type shardFlag struct{ *bench.Shard }

func (f *shardFlag) register(cmd *cobra.Command) {
	cmd.Flags().Var(f, "shard", shardUsage)
}

func (f *shardFlag) String() string {
	if f.Shard == nil {
		return ""
	}
	return f.Shard.String()
}

func (f *shardFlag) Type() string { return "part" }

// Set takes the shard as it is written.
func (f *shardFlag) Set(text string) error {
	s, err := bench.ParseShard(text)
	f.Shard = &s
	return err
}

// sayEmpty says that there is nothing to measure. That is no mistake: who asks
// for eight parts need not know how many benchmarks there are.
func (f *shardFlag) sayEmpty(t *ui.Terminal, benchmarks int) {
	t.Say("nothing to measure in shard %s: there %s", f.Shard, map[bool]string{true: "is 1 benchmark", false: "are " + unit.Plural(benchmarks, "benchmark")}[benchmarks == 1])
}

// empty is the comparison of a shard without benchmarks, and says that it is one.
func (f *compareFlags) empty(t *ui.Terminal, m *sides.Matchup) *bench.Comparison {
	f.shard.sayEmpty(t, m.Total)
	c := &bench.Comparison{Tool: version(), Shard: f.shard.Shard, Thresholds: f.limits, Started: time.Now().UTC().Truncate(time.Second)}
	m.Name(c)
	return c
}

// writeEmpty writes the comparison of a shard without benchmarks.
func (f *compareFlags) writeEmpty(t *ui.Terminal, m *sides.Matchup, out outFile) error {
	judged := report.NewComparison(report.ComparedTable{Comparison: f.empty(t, m), Verdicts: &thresholds.Verdicts{Empty: true}})
	write := func(w io.Writer) error { return report.CompareJSON(w, judged) }
	if err := out.write(write); err != nil {
		return exit.NoMeasure(err)
	}
	switch f.format {
	case "json":
		return exit.NoMeasure(write(t.Stdout))
	case "bmf":
		return exit.NoMeasure(report.BMF(t.Stdout, report.NewModel()))
	}
	return nil
}
