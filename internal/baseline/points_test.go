package baseline

import (
	"math"
	"slices"
	"testing"
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
		_, err := decodePoints([]byte(c.data))
		wantError(t, err, c.want)
	}
	points, err := decodePoints([]byte(`{"benchmarks":["a","b"],"measures":["m"]}` + "\n" + nan + one))
	if err != nil || !slices.Equal(points, []Point{{"b", "m", 1}}) {
		t.Errorf("points %v, error %v", points, err)
	}
}

func TestPointsThatCannotBeStored(t *testing.T) {
	for _, c := range []struct {
		points []Point
		want   string
	}{
		{[]Point{{"a", "m", 1}, {"b", "m", 1}, {"a", "m", 2}}, `measure "m": benchmark "a" occurs twice`},
		{[]Point{{"a", "m", math.Inf(1)}}, `benchmark "a", measure "m": the value +Inf`},
		{[]Point{{"a", "m", math.NaN()}}, `benchmark "a", measure "m": the value NaN`},
		{[]Point{{"", "m", 1}}, "the benchmark is empty"},
	} {
		_, err := encodePoints(c.points)
		wantError(t, err, c.want)
	}
}
