package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// newProgress shows a run under way: a bar on a terminal, a line a benchmark
// elsewhere.
func newProgress(t *terminal, plan *runner.Plan) runner.Progress {
	if isTerminal(t.stderr) {
		return &bar{t: t, benchmarks: len(plan.Jobs)}
	}
	return &lines{t: t, benchmarks: len(plan.Jobs)}
}

type bar struct {
	t          *terminal
	benchmarks int
	bar        *progressbar.ProgressBar
}

func (b *bar) Start(rounds int, _ time.Duration) {
	b.bar = progressbar.NewOptions(rounds,
		progressbar.OptionSetWriter(b.t.stderr),
		progressbar.OptionSetDescription(fmt.Sprintf("measuring %d benchmarks", b.benchmarks)),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
}

func (b *bar) Round() {
	if b.bar != nil {
		_ = b.bar.Add(1)
	}
}

func (b *bar) Done(*bench.Result) {
	if b.bar != nil {
		_ = b.bar.Clear()
		b.bar = nil
	}
}

type lines struct {
	t          *terminal
	benchmarks int
}

func (l *lines) Start(_ int, estimate time.Duration) {
	l.t.say("", "measuring %d benchmarks, about %s", l.benchmarks, estimate.Round(time.Second))
}

func (l *lines) Round() {}

func (l *lines) Done(r *bench.Result) {
	row := report.NewRow(r)
	switch s, ok := row.Get(bench.Latency); {
	case r.Error != "":
		l.t.say("", "%s: failed", r.Benchmark)
	case ok:
		l.t.say("", "%s: %s ± %s in %d rounds", r.Benchmark, unit.NS(s.Center), unit.NS(s.Spread()), s.N)
	default:
		l.t.say("", "%s: no values", r.Benchmark)
	}
}
