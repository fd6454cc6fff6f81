package runner

import (
	"maps"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestLogFigures(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want map[bench.Measure]uint64
	}{
		"Linux 6.12": {"verification time 54 usec\nstack depth 32+8\nprocessed 51 insns (limit 1000000) max_states_per_insn 1 total_states 4 peak_states 3 mark_read 2\n",
			map[bench.Measure]uint64{bench.StackBytes: 40, bench.VerifiedInsns: 51, bench.VerifierStates: 4, bench.VerifierPeakStates: 3}},
		"no stack":  {"processed 1 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0", map[bench.Measure]uint64{bench.VerifiedInsns: 1, bench.VerifierStates: 0, bench.VerifierPeakStates: 0}},
		"empty":     {"", nil},
		"something": {"stack depth deep\nprocessed many insns", nil},
	} {
		if got := logFigures(c.log); !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func FuzzLogFigures(f *testing.F) {
	f.Add("stack depth 32+8\nprocessed 51 insns (limit 1000000) max_states_per_insn 1 total_states 4 peak_states 3 mark_read 2\n")
	f.Add("stack depth +99999999999999999999+\nprocessed 1 insns total_states 5 peak_states 99999999999999999999")
	f.Fuzz(func(_ *testing.T, log string) { logFigures(log) })
}

// The loop needs more verifying, code and stack than the table, and both have
// the same maps but for the table.
func TestStaticFiguresTellProgramsApart(t *testing.T) {
	run := measure(t, objects+`
  - {name: slow, program: fun_xdp_fibonacci_slow, test_run: {}}
  - {name: basic, program: fun_xdp_basic, test_run: {}}
`, Options{Rounds: 2, Loads: 2, Seed: 1})
	for _, m := range bench.StaticMeasures {
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
