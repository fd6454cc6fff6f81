package thresholds

import (
	"fmt"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// measures are all that there are.
var measures = append([]bench.Measure{
	bench.Latency, bench.LatencyRaw, bench.LatencyFloor, bench.Throughput,
	bench.Instructions, bench.InstructionsRaw, bench.InstructionsFloor, bench.InstructionsPath,
}, bench.StaticMeasures...)

func measureNamed(name string) (bench.Measure, bool) {
	i := slices.IndexFunc(measures, func(m bench.Measure) bool { return m.Name == name })
	if i < 0 {
		return bench.Measure{}, false
	}
	return measures[i], true
}

// CheckMeasures refuses a run that calls a measure something else than it is: by
// a direction of its own, a file could make a regression an improvement.
func CheckMeasures(run *bench.Run) error {
	for i := range run.Results {
		for _, s := range run.Results[i].Samples {
			if m, ok := measureNamed(s.Measure.Name); ok && m != s.Measure {
				return fmt.Errorf("benchmark %q has %s as %s, but it is %s", run.Results[i].Benchmark, m.Name, describe(s.Measure), describe(m))
			}
		}
	}
	return nil
}

func describe(m bench.Measure) string {
	kind := "timed"
	if m.Exact {
		kind = "exact"
	}
	return fmt.Sprintf("%s, %s is better, in %s", kind, m.Direction, m.Unit)
}
