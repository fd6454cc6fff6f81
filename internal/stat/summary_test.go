package stat

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestSummarize(t *testing.T) {
	s := Summarize(bench.Sample{Measure: bench.Latency, Values: []float64{5, 1, 4, 2, 3, 9, 8, 7, 6, 1000, 10}})
	if s.N != 11 || s.Center != 6 {
		t.Errorf("got %+v, want the median 6 of 11 values, untouched by the outlier", s)
	}
	if s.Low < 2 || s.Low > 4 || s.High < 8 || s.High > 10 {
		t.Errorf("quartiles %v and %v", s.Low, s.High)
	}
	if len(s.Warnings) != 0 {
		t.Errorf("warnings %v", s.Warnings)
	}
}

func TestSummarizeWarns(t *testing.T) {
	if s := Summarize(bench.Sample{Measure: bench.Latency, Values: []float64{1, 2}}); len(s.Warnings) != 1 {
		t.Errorf("two rounds give no warning: %+v", s)
	}
	exact := bench.Measure{Name: "instructions", Exact: true}
	if s := Summarize(bench.Sample{Measure: exact, Values: []float64{7}}); len(s.Warnings) != 0 || s.Center != 7 {
		t.Errorf("one exact value is enough: %+v", s)
	}
	if s := Summarize(bench.Sample{Measure: exact, Values: []float64{7, 8}}); len(s.Warnings) != 1 {
		t.Errorf("an exact measure that varies gives no warning: %+v", s)
	}
}

// A warning mentions a negative cost unless it may be chance; other measures
// may well be negative.
func TestSummarizeBelowFloor(t *testing.T) {
	clear, chance := make([]float64, 20), make([]float64, 20)
	for i := range 20 {
		clear[i], chance[i] = -2-float64(i)/10, float64(i)-12
	}
	for _, c := range []struct {
		m      bench.Measure
		values []float64
		warns  bool
	}{
		{bench.Latency, clear, true},
		{bench.Latency, chance, false},
		{bench.Contention, clear, false},
		{bench.InstructionsPath, []float64{-30}, false},
		{bench.Instructions, []float64{-1}, true},
		{bench.Instructions, []float64{0}, false},
	} {
		s := Summarize(bench.Sample{Measure: c.m, Values: c.values})
		if warns := len(s.Warnings) == 1 && strings.HasPrefix(s.Warnings[0], "net is below 0: "); warns != c.warns {
			t.Errorf("%s of %v: %q", c.m.Name, c.values, s.Warnings)
		}
	}
}

func TestSummarizeKeepsOrder(t *testing.T) {
	values := []float64{3, 1, 2}
	Summarize(bench.Sample{Values: values})
	if values[0] != 3 {
		t.Error("the caller's values were sorted in place; a value's index is its round")
	}
	if s := Summarize(bench.Sample{}); s.N != 0 {
		t.Errorf("empty sample: %+v", s)
	}
}
