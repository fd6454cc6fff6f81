package runner

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// The loop needs more verification, code and stack than the table. Both have
// the same maps except for the table.
func TestStaticFiguresTellProgramsApart(t *testing.T) {
	run := measure(t, objects+`
  - {name: slow, program: fun_xdp_fibonacci_slow, test_run: {}}
  - {name: basic, program: fun_xdp_basic, test_run: {}}
`, Options{Rounds: 2, Loads: 2, Seed: 1})
	for _, m := range bench.MeasuresOf(bench.Static) {
		for _, r := range run.Results {
			if s := r.Sample(m.Name); s == nil || len(s.Values) != 1 {
				t.Errorf("%s has no %s", r.Benchmark, m.Name)
			}
		}
	}
	slow, basic := run.Results[0].Sample(bench.VerifiedInsns.Name), run.Results[1].Sample(bench.VerifiedInsns.Name)
	if slow.Values[0] == basic.Values[0] {
		t.Errorf("both programs have %v verified instructions", slow.Values[0])
	}
}
