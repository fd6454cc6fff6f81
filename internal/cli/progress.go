package cli

import (
	"time"

	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// Run shows the progress of a run over its rounds.
func (w Watch) Run(benchmarks int) runner.Progress {
	return &runBar{bar: w.bar("measuring", benchmarks)}
}

// Pairs shows the progress of a comparison over the loads of all pairs.
func (w Watch) Pairs(pairs int) runner.Progress {
	return &pairBar{bar: w.bar("comparing", pairs), pairs: pairs}
}

// bar returns a bar, which starts once its length is known. A log is told at once what
// happens.
func (w Watch) bar(doing string, benchmarks int) bar {
	what := doing + " " + unit.Plural(benchmarks, "benchmark")
	if !ui.IsTerminal(w.Stderr) {
		w.Say("%s", what)
	}
	return bar{t: w.Terminal, what: what}
}

type bar struct {
	t    *ui.Terminal
	what string
	bar  *ui.Bar
}

func (b *bar) start(total int) {
	if b.bar == nil {
		b.bar = b.t.Bar(int64(total), b.what)
	}
	b.bar.Grow(int64(total))
}

func (b *bar) Round() { b.bar.Add(1) }

func (b *bar) Done() {
	b.bar.Remove()
	b.bar = nil
}

// runBar tells a log how long the run will take, too.
type runBar struct {
	bar
	said bool
}

// Start implements runner.Progress. The estimate is known once each benchmark of the first
// group has run for the first time. Benchmarks that fail later take less, and other work on
// the machine adds to it.
func (b *runBar) Start(rounds int, estimate time.Duration) {
	if estimate = estimate.Round(time.Second); estimate > 0 && !b.said && !ui.IsTerminal(b.t.Stderr) {
		b.said = true
		b.t.Say("it takes about %s", estimate)
	}
	b.start(rounds)
}

// pairBar grows with each pair, because the number of loads for a pair is known only once
// its pilot is done.
type pairBar struct {
	bar
	pairs, started, loads int
}

// Start implements runner.Progress.
func (b *pairBar) Start(loads int, _ time.Duration) {
	b.started++
	b.loads += loads
	// Those that are not planned yet will need about as many.
	b.start(b.loads + b.loads/b.started*max(b.pairs-b.started, 0))
}
