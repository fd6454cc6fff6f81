package thresholds

import (
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat/stattest"
	"github.com/org/ebpf-bench-action/internal/strictyaml/schematest"
)

// timedPair returns a benchmark of 200 ns on the usual machine, whose head costs growth
// more. Its name seeds its noise.
func timedPair(name string, growth float64) bench.Pair {
	return machinePair(stattest.Usual(32), name, growth)
}

func machinePair(m stattest.Machine, name string, growth float64) bench.Pair {
	h := fnv.New64()
	_, _ = h.Write([]byte(name))
	p := m.Pair(rand.New(rand.NewPCG(h.Sum64(), 1)), growth)
	p.Budget = 2
	p.Benchmark, p.Base.Benchmark, p.Head.Benchmark, p.Again.Benchmark = name, name, name, name
	return p
}

func exactPair(name string, base, head float64) bench.Pair {
	return measured(bench.Instructions, name, base, head)
}

func measured(m bench.Measure, name string, base, head float64) bench.Pair {
	side := func(v float64) *bench.Result {
		return &bench.Result{Benchmark: name, Samples: []bench.Sample{{Measure: m, Values: []float64{v}}}}
	}
	return bench.Pair{Benchmark: name, Base: side(base), Head: side(head)}
}

func comparison(pairs ...bench.Pair) *bench.Comparison {
	return &bench.Comparison{Testbed: bench.Testbed{Mode: bench.ModeHost, Kernel: "6.12.8"}, Pairs: pairs}
}

// policy reads thresholds and acceptances from the text of a file.
func policy(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := load("version: 1\n" + text)
	if err != nil {
		t.Fatal(err)
	}
	if err := schematest.Validate(t, Schema, "version: 1\n"+text); err != nil {
		t.Errorf("the schema refuses what the reader takes: %v", err)
	}
	return p
}

// marked returns the budgets that a run exceeds.
func marked(p *Policy, run *bench.Run) (alerts []bench.Alert) {
	p.Mark(run)
	for _, r := range run.Results {
		alerts = append(alerts, r.Alerts...)
	}
	return alerts
}

// only returns the only verdict.
func only(t *testing.T, v *Verdicts) Verdict {
	t.Helper()
	if len(v.All) != 1 {
		t.Fatalf("%d verdicts, want one: %+v", len(v.All), v.All)
	}
	return v.All[0]
}
