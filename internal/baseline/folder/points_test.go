package folder

import (
	"math"
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

func TestPointsThatAreDamaged(t *testing.T) {
	const one, nan, inf = "\x00\x00\x00\x00\x00\x00\xf0\x3f", "\x01\x00\x00\x00\x00\x00\xf8\x7f", "\x00\x00\x00\x00\x00\x00\xf0\x7f"
	for _, c := range []struct{ data, want string }{
		{"", "unexpected end of JSON input"},
		{"{}\n" + one, "8 bytes of values instead of 0"},
		{`{"benchmarks":["a","b"],"measures":["m"]}` + "\n" + one, "8 bytes of values instead of 16"},
		{`{"benchmarks":["b","a"]}` + "\n", "the benchmarks are not sorted"},
		{`{"measures":["m","m"]}` + "\n", "the measures are not sorted"},
		{`{"benchmarks":["a","\u001b"]}` + "\n", "cannot be printed"},
		{`{"benchmarks":["a",""]}` + "\n", "the benchmark is empty"},
		{`{"benchmarks":["a"],"measures":["m"]}` + "\n" + inf, "a value is infinite"},
	} {
		_, err := format.DecodePoints([]byte(c.data))
		wantError(t, err, c.want)
	}
	points, err := format.DecodePoints([]byte(`{"benchmarks":["a","b"],"measures":["m"]}` + "\n" + nan + one))
	if err != nil || !slices.Equal(points, []baseline.Point{{Benchmark: "b", Measure: "m", Value: 1}}) {
		t.Errorf("points %v, error %v", points, err)
	}
}

func TestPointsThatCannotBeStored(t *testing.T) {
	for _, c := range []struct {
		points []baseline.Point
		want   string
	}{
		{[]baseline.Point{{Benchmark: "a", Measure: "m", Value: 1}, {Benchmark: "b", Measure: "m", Value: 1}, {Benchmark: "a", Measure: "m", Value: 2}}, `measure "m": benchmark "a" occurs twice`},
		{[]baseline.Point{{Benchmark: "a", Measure: "m", Value: math.Inf(1)}}, `benchmark "a", measure "m": the value +Inf`},
		{[]baseline.Point{{Benchmark: "a", Measure: "m", Value: math.NaN()}}, `benchmark "a", measure "m": the value NaN`},
		{[]baseline.Point{{Benchmark: "", Measure: "m", Value: 1}}, "the benchmark is empty"},
	} {
		_, err := format.EncodePoints(c.points)
		wantError(t, err, c.want)
	}
}
