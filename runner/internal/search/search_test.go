package search

import (
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/mutate"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// job returns the default benchmark of a bundled XDP program.
func job(t testing.TB, program string) *plan.Job {
	t.Helper()
	return plantest.Of(t, plantest.Objects+"  - {name: x, program: "+program+", test_run: {}}\n").Jobs[0]
}

// found searches without signals.
func found(t testing.TB, target *Target, o Options) *Found {
	t.Helper()
	o.Start = []Input{{Packets: mutate.Frames()[:1]}}
	var f *Found
	err := thread.WithoutSignals(func() (err error) {
		f, err = Search(t.Context(), target, o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Whatever the seed, few inputs are needed to find an address on which a program takes the
// most turns of its loop, and the input is plain otherwise.
func TestTheWorstAddressIsFound(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	target := open(t, job(t, "fun_xdp_fibonacci_slow"))
	for seed := range uint64(100) {
		began := time.Now()
		f := found(t, target, Options{Runs: 1000, Seed: seed})
		t.Logf("seed %d: %d runs, %v: default %v, worst %v, %x", seed, f.Runs, time.Since(began), f.Default.PerRun(), f.Worst.PerRun(), f.Worst.Packets)
	}
}
