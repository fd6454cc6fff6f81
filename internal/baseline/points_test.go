package baseline

import "testing"

func TestPointsThatAreDamaged(t *testing.T) {
	const one = "\x00\x00\x00\x00\x00\x00\xf0\x3f"
	column := func(text string) string { return "\x05\x02\x01a\x01b\x01\x01m" + string(appendBlock(nil, text)) }
	for _, c := range []struct{ data, want string }{
		{"", "the data end too early"},
		{"\x80\x00", "misspelt"},
		{"\xff\xff\xff\x01", "are more than the 4 that are plausible"},
		{"\x05\x02\x01a\x01b\x01\x01m", "the data end too early"},
		{"\x05\x02\x01b\x01a\x00", "the benchmarks are not sorted"},
		{"\x05\x02\x01a\x01\x1b\x00", "cannot be printed"},
		{"\x01\x00\x02\x01m\x01\x00\x01m\x01\x00", "the measures are not sorted"},
		{"\x01\x00\x00x", "1 bytes follow the data"},
		{column("\x01\x00" + one), "a benchmark occurs twice, or there is none"},
		{column("\x02\x02\x01" + one + one), "a benchmark occurs twice, or there is none"},
		{column("\x01\x01\x00\x00\x00\x00\x00\x00\xf8\x7f"), "the value NaN"},
		{column("\x01\x01" + one + "x"), "1 bytes follow the data"},
	} {
		_, err := decodePoints([]byte(c.data))
		wantError(t, err, c.want)
	}
	if points, err := decodePoints([]byte(column("\x01\x02" + one))); err != nil || points[0] != (Point{"b", "m", 1}) {
		t.Errorf("points %v, error %v", points, err)
	}
}
