package bench

import (
	"bytes"
	"strings"
	"testing"
)

func ingestedRun(change func(*Result)) *Run {
	r := Result{Benchmark: "a.B", Driver: DriverGo, Object: "x/a", Program: "BenchmarkB", Samples: []Sample{
		{Measure: Latency, Values: []float64{1.5, 1.6}}, {Measure: Allocs, Values: []float64{2, 2}},
		{Measure: Measure{Name: "records/op", Unit: "records/op", Direction: LowerIsBetter}, Values: []float64{-3}},
	}}
	change(&r)
	return &Run{Results: []Result{r}}
}

// A result from another tool has only what that can measure.
func TestIngestedResults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Result)
		want   string
	}{
		{"as it is", func(*Result) {}, ""},
		{"of criterion", func(r *Result) { r.Driver, r.Samples = DriverCriterion, r.Samples[:1] }, ""},
		{"of criterion with allocations", func(r *Result) { r.Driver = DriverCriterion }, `does not measure "allocs"`},
		{"that failed", func(r *Result) { r.Samples, r.Error = nil, "it failed" }, ""},
		{"with counters", func(r *Result) { r.Rounds.Add(0, 1, 1, 1, 0) }, "only a kernel counts"},
		{"with a path", func(r *Result) { r.Path = &Path{} }, "only a kernel counts"},
		{"with an object", func(r *Result) { r.ObjectSHA256 = "ab" }, "only a kernel counts"},
		{"with instructions", func(r *Result) { r.Samples[0].Measure = Instructions }, `does not measure "instructions"`},
		{"with a floor", func(r *Result) { r.Samples[0].Measure = LatencyFloor }, `does not measure "latency-floor"`},
		{"of a negative time", func(r *Result) { r.Samples[0].Values[1] = -1 }, "is negative"},
		{"of too many values", func(r *Result) { r.Samples[0].Values = make([]float64, MaxIngested+1) }, "more than 2000"},
		{"with another meaning", func(r *Result) { r.Samples[1].Measure.Direction = HigherIsBetter }, "it has allocs as"},
	} {
		var b bytes.Buffer
		if err := EncodeRuns(&b, ingestedRun(c.change)); err != nil {
			t.Fatal(err)
		}
		_, err := DecodeRun(&b)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
