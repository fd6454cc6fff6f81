package load

import (
	"fmt"
	"maps"
	"math"
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

// Figures that the kernel writes are read, whatever follows them, and no figure
// is larger than the kernel's can be.
func FuzzLogFigures(f *testing.F) {
	f.Add(uint32(51), uint32(4), uint32(3), uint32(32), "stack depth 8\nprocessed 1 insns total_states 5 peak_states 6")
	f.Add(uint32(0), uint32(0), uint32(0), uint32(0), "stack depth +99999999999999999999+\nprocessed 1 insns total_states 5 peak_states 99999999999999999999")
	f.Fuzz(func(t *testing.T, insns, states, peak, depth uint32, after string) {
		log := fmt.Sprintf("verification time 54 usec\nstack depth %d+8\nprocessed %d insns (limit 1000000) max_states_per_insn 1 total_states %d peak_states %d mark_read 2\n", depth, insns, states, peak)
		want := map[bench.Measure]uint64{bench.StackBytes: uint64(depth) + 8, bench.VerifiedInsns: uint64(insns), bench.VerifierStates: uint64(states), bench.VerifierPeakStates: uint64(peak)}
		if got := logFigures(log + after); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for m, n := range logFigures(after) {
			if m != bench.StackBytes && n > math.MaxUint32 {
				t.Errorf("%s is %d", m.Name, n)
			}
		}
	})
}
