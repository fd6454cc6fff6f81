package runner

import (
	"math"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/pmu"
)

// Hardware counters are read around test_run, whose loop does nothing else: what
// it takes itself is in the floor too. An attached program would be charged with
// all that leads to its hook: see profile.

// hardwareEvents are what is counted where the machine can.
var hardwareEvents = pmu.Hardware

// readHardware reads the counters, none where they are not of use.
func (s *subject) readHardware() ([]pmu.Reading, error) {
	if s.hardware == nil {
		return nil, nil
	}
	return s.hardware.Read()
}

// eventsSince is how many events there were between two readings of the same
// counters, NaN where one was not counted.
func eventsSince(after, before []pmu.Reading) []float64 {
	var events []float64
	for i := range after {
		n, ok := after[i].Since(before[i])
		if !ok {
			n = math.NaN()
		}
		events = append(events, n)
	}
	return events
}

// recordHardware adds what the events of a slice were a run, less those of a slice
// of the floor's.
func (t *track) recordHardware(measures []bench.Measure, last, floor *slice) {
	if last.runCnt == 0 || floor.runCnt == 0 || len(floor.events) != len(last.events) {
		return
	}
	for i, n := range last.events {
		net := n/float64(last.runCnt) - floor.events[i]/float64(floor.runCnt)
		if !math.IsNaN(net) {
			t.addHardware(measures[i], round(net))
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
