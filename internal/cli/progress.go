package cli

import (
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/measured"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// Run shows the progress of a run: on a terminal a bar, else a line per benchmark.
func (w Watch) Run(benchmarks int) runner.Progress {
	if ui.IsTerminal(w.Stderr) {
		return &bar{t: w.Terminal, benchmarks: benchmarks}
	}
	w.Say("measuring %s", unit.Plural(benchmarks, "benchmark"))
	return &lines{t: w.Terminal}
}

type bar struct {
	t          *ui.Terminal
	benchmarks int
	bar        *ui.Bar
}

func (b *bar) Start(rounds int, _ time.Duration) {
	if b.bar != nil {
		b.bar.Grow(int64(rounds))
		return
	}
	b.bar = b.t.Bar(int64(rounds), "measuring "+unit.Plural(b.benchmarks, "benchmark"))
}

func (b *bar) Round() { b.bar.Add(1) }

func (b *bar) Done(*bench.Result) {
	b.bar.Remove()
	b.bar = nil
}

type lines struct {
	t    *ui.Terminal
	said bool
}

// Start says how long the run will take, which is known once each benchmark of its first
// group has run for the first time. Benchmarks that fail later take less, and other work on
// the machine adds to it.
func (l *lines) Start(_ int, estimate time.Duration) {
	if estimate = estimate.Round(time.Second); estimate > 0 && !l.said {
		l.said = true
		l.t.Say("it takes about %s", estimate)
	}
}

func (l *lines) Round() {}

func (l *lines) Done(r *bench.Result) {
	row := measured.NewRow(r)
	switch s, ok := row.Get(bench.Latency); {
	case r.Error != "":
		l.t.Say("%s: failed", r.Benchmark)
	case ok && s.N > 1:
		l.t.Say("%s: %s ± %s in %d rounds", r.Benchmark, unit.NS(s.Center), unit.NS(s.Spread()), s.N)
	case ok:
		l.t.Say("%s: %s in 1 round", r.Benchmark, unit.NS(s.Center))
	case r.Driver == "verify":
		l.t.Say("%s: loaded", r.Benchmark)
	default:
		l.t.Say("%s: no values", r.Benchmark)
	}
}
