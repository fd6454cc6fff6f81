package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

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
		progressbar.OptionSetDescription("measuring "+plural(b.benchmarks, "benchmark")),
		progressbar.OptionSetWidth(barWidth(b.t.stderr)),
		progressbar.OptionUseANSICodes(true),
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

// barWidth is how wide a bar may be so that its line, which is 60 characters
// without it, never wraps: a wrapped line cannot be drawn over.
func barWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 1
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 1
	}
	return min(max(columns-60, 1), 30)
}

type lines struct {
	t          *terminal
	benchmarks int
}

func (l *lines) Start(_ int, estimate time.Duration) {
	l.t.say("", "measuring %s, about %s", plural(l.benchmarks, "benchmark"), estimate.Round(time.Second))
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
