package runner

import (
	"math"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// Hardware counters are read around test_run, whose loop does nothing else: its
// own cost is in the floor, too. For an attached program they would also count
// everything that leads to its hook: see profile.

// recordHardware adds the events per run of a slice, minus those of the floor's
// slice.
func (t *track) recordHardware(measures []bench.Measure, last, floor *subject.Slice) {
	if last.RunCnt == 0 || floor.RunCnt == 0 || len(floor.Events) != len(last.Events) {
		return
	}
	for i, n := range last.Events {
		net := n/float64(last.RunCnt) - floor.Events[i]/float64(floor.RunCnt)
		if !math.IsNaN(net) {
			t.addHardware(measures[i], unit.Round(net))
		}
	}
}

func (t *track) addHardware(m bench.Measure, value float64) {
	i := slices.IndexFunc(t.hardware, func(s bench.Sample) bool { return s.Measure == m })
	if i < 0 {
		i, t.hardware = len(t.hardware), append(t.hardware, bench.Sample{Measure: m})
	}
	t.hardware[i].Values = append(t.hardware[i].Values, value)
}
