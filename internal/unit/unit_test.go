package unit

import (
	"math"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{
		{0, "ns", "0 ns"},
		{12.345, "ns", "12.3 ns"},
		{-0.4567, "ns", "-0.46 ns"},
		{44, "ns", "44 ns"},
		{-0.001, "ns", "0.00 ns"},
		{999.96, "ns", "1.00 µs"},
		{1240, "ns", "1.24 µs"},
		{2.5e9, "ns", "2.50 s"},
		{812, "", "812"},
		{20000, "", "20.0 k"},
		{1.2e6, "", "1.20 M"},
		{3.02e6, "ops/s", "3.02 M/s"},
		{60, "B", "60 B"},
		{16 << 20, "bytes", "16.0 MiB"},
		{17, "insns", "17 insns"},
		{1e308, "ns", "1.00e+308 ns"},
		{-1e308, "insns", "-1.00e+308 insns"},
		{1e14, "", "100000 G"},
		{math.NaN(), "ns", "-"},
		{math.Inf(1), "ops/s", "-"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  string
	}{{0, "0.0%"}, {0.021, "2.1%"}, {-0.5, "-50.0%"}, {12.3, "1230%"}, {math.NaN(), "-"}, {1e20, "1.00e+22%"}, {1e308, "-"}} {
		if got := Percent(c.ratio); got != c.want {
			t.Errorf("Percent(%v) = %q, want %q", c.ratio, got, c.want)
		}
	}
}

func TestChange(t *testing.T) {
	for ratio, want := range map[float64]string{0: "0%", 0.0521: "+5.2%", -0.0012: "-0.12%", 0.000001: "0%", 3: "+300%", -0.9999: "-100%", math.NaN(): "-"} {
		if got := Change(ratio); got != want {
			t.Errorf("Change(%v) = %q, want %q", ratio, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	for p, want := range map[float64]string{0: "0%", 1: "100%", 0.754: "75%", 0.003: "0.3%", 0.00004: "0.004%", 0.0094: "0.9%", 0.0096: "1%", 0.9949: "99%", 0.997: "99.7%", 0.99999: "99.9%"} {
		if got := Share(p); got != want {
			t.Errorf("Share(%v) = %q, want %q", p, got, want)
		}
	}
}

func TestLevel(t *testing.T) {
	for p, want := range map[float64]string{0.99: "99%", 0.999: "99.9%", 0.07: "7%", 1: "100%"} {
		if got := Level(p); got != want {
			t.Errorf("Level(%v) = %q, want %q", p, got, want)
		}
	}
}

func TestExactly(t *testing.T) {
	for v, want := range map[float64]string{1: "1 instruction", -1: "-1 instruction", 0: "0 instructions", 1882: "1,882 instructions", 306.0781: "306.08 instructions", 155.66666666: "155.67 instructions", -0.004: "-0.004 instructions", 1.004: "1 instructions"} {
		if got := Exactly(v, "instructions"); got != want {
			t.Errorf("Exactly(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Exactly(1, ""); got != "1" {
		t.Errorf("without a name: %q", got)
	}
}

// Absurd numbers take no more room than others.
func TestExactOfAbsurdNumbers(t *testing.T) {
	for v, want := range map[float64]string{999999999999999: "999,999,999,999,999", 1e15: "1.00e+15", -1e308: "-1.00e+308"} {
		if got := Exact(Tidy(v)); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	if got := Tidy(0.1 + 0.2); got != 0.3 {
		t.Errorf("tidied %v", got)
	}
}

func TestExact(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 17: "17", 999: "999", 3594: "3,594", 1234567: "1,234,567", -1000: "-1,000", 109.25: "109.25", -0.5: "-0.5", math.Inf(1): "-"} {
		if got := Exact(v); got != want {
			t.Errorf("Exact(%v) = %q, want %q", v, got, want)
		}
	}
}
