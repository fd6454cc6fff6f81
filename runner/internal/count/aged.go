package count

import (
	"context"
	"fmt"
	"math"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

const (
	// agedTimes is how many times the runs that precede the measured ones precede those
	// of the last look.
	agedTimes = 8
	// agedChange is the least change of a mean that is worth a figure of its own.
	agedChange = 0.01
)

// age looks at the program again after very many runs, if it is quick enough for them.
func (e *Executed) age(ctx context.Context, s *subject.Subject, read func() (counted, error)) (err error) {
	runs := (agedTimes - 1) * e.job.Settle
	if len(e.looks) == 0 || !e.job.SharesInput() || e.job.Fresh != "" || float64(runs)*e.perRun(e.total.Total()) > insnsToSettle {
		return nil
	}
	if err = s.Settle(ctx, runs); err == nil {
		e.aged, err = look(ctx, s, e.job.Settle, read)
	}
	return err
}

// Aged returns how many BPF instructions a run executes that comes after very many others,
// or nil if it is as many as Sample says, or chance.
func (e *Executed) Aged() *bench.Sample {
	mean, least, most := meanOf(e.aged)
	steady, from, to := meanOf(e.looks)
	if len(e.aged) < parts || len(e.looks) < parts || least <= to && from <= most || math.Abs(mean-steady) < agedChange*steady {
		return nil
	}
	return &bench.Sample{Measure: bench.BPFInsnsAged, Values: []float64{mean}}
}

// meanOf returns what a run of looks executes: in the mean, and in the cheapest and the
// dearest part of them.
func meanOf(looks []pass) (mean, least, most float64) {
	var executed, runs uint64
	least = math.Inf(1)
	for _, p := range looks {
		n := p.counts.Total()
		executed, runs = executed+n, runs+p.runs
		least, most = min(least, p.perRun(n)), max(most, p.perRun(n))
	}
	return unit.Round(float64(executed) / float64(max(runs, 1))), least, most
}

// AgedWarning returns the warning that runs go on to change, or "".
func (e *Executed) AgedWarning() string {
	aged := e.Aged()
	if aged == nil {
		return ""
	}
	steady, _, _ := meanOf(e.looks)
	settled := float64(e.job.Settle)
	return fmt.Sprintf("what a run does still changes with the number of runs before it: %s BPF instructions after %s runs, %s after %s; prepare, with more runs, measures a later one",
		unit.Mean(steady), unit.Exact(settled), unit.Mean(aged.Values[0]), unit.Exact((agedTimes+1)*settled))
}
