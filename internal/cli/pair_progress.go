package cli

import (
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
)

// Pairs shows the progress of a comparison: on a terminal a bar over the loads of all
// pairs, else a line.
func (w Watch) Pairs(pairs int) runner.Progress {
	if ui.IsTerminal(w.Stderr) {
		return &pairBar{bar: bar{t: w.Terminal, benchmarks: pairs}}
	}
	w.Say("comparing %s", unit.Plural(pairs, "benchmark"))
	return silentProgress{}
}

// pairBar is a bar that grows with each pair, because the number of loads for a pair is
// known only once its pilot is done.
type pairBar struct {
	bar
	started int
	loads   int
}

func (b *pairBar) Start(loads int, estimate time.Duration) {
	b.started++
	b.loads += loads
	// Those that are not planned yet will need about as many.
	b.bar.Start(b.loads+b.loads/b.started*max(b.benchmarks-b.started, 0), estimate)
}

type silentProgress struct{}

func (silentProgress) Start(int, time.Duration) {}
func (silentProgress) Round()                   {}
func (silentProgress) Done(*bench.Result)       {}
