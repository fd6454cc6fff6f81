// Package unit formats numbers for people: nanoseconds, counts, rates, bytes
// and percentages, each with a unit and three significant digits, and lists of
// names. It knows nothing about measures.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var (
	timeScale   = []scale{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}
	countScale  = []scale{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}
	binaryScale = []scale{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
)

type scale struct {
	factor float64
	suffix string
}

// NS formats a time in nanoseconds: 12.3 ns, 1.24 µs.
func NS(ns float64) string { return scaled(ns, timeScale) }

// Count formats a number of things: 812, 20.0 k, 1.20 M.
func Count(n float64) string { return scaled(n, countScale) }

// Exact formats a count in which every digit matters: 3,594 or 109.25.
func Exact(n float64) string {
	if bad(n) {
		return "-"
	}
	if math.Abs(n) >= absurd {
		return exponent(n)
	}
	text := strconv.FormatFloat(n, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	sign := ""
	if whole[0] == '-' {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// absurd is where a number has more digits than are exact, or than anybody
// reads.
const absurd = 1e15

func exponent(v float64) string { return strconv.FormatFloat(v, 'e', 2, 64) }

// Tidy removes the error of adding binary fractions behind the sixth decimal.
func Tidy(v float64) float64 {
	if math.Abs(v) >= absurd {
		return v
	}
	return math.Round(v*1e6) / 1e6
}

// Mean formats the mean of counts from several runs: all digits of a whole
// number, two decimals otherwise (155.67), but never 0 for more than that.
func Mean(n float64) string {
	n = Tidy(n)
	if r := math.Round(n*100) / 100; r != 0 {
		return Exact(r)
	}
	return Exact(n)
}

// Exactly is Mean with the name of what is counted, given in the plural: 3,594
// instructions, 1 byte.
func Exactly(n float64, things string) string {
	if n == 1 || n == -1 {
		things = strings.TrimSuffix(things, "s")
	}
	return strings.TrimSpace(Mean(n) + " " + things)
}

// Rate formats a number of things per second: 3.02 M/s.
func Rate(perSecond float64) string {
	if bad(perSecond) {
		return "-"
	}
	return Count(perSecond) + "/s"
}

// Bytes formats a size: 60 B, 16.0 MiB.
func Bytes(n float64) string { return scaled(n, binaryScale) }

// Percent formats a ratio as a percentage: 0.021 is 2.1%.
func Percent(ratio float64) string {
	if bad(ratio) {
		return "-"
	}
	p := ratio * 100
	switch a := math.Abs(p); {
	case bad(p):
		return "-"
	case a >= absurd:
		return exponent(p) + "%"
	case a >= 100:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	default:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
}

// Change formats a ratio as a percentage with its sign: +5.2%. It has two
// decimals below 1%, where the noise of a good machine is, and none from 100%.
func Change(ratio float64) string {
	p := ratio * 100
	if bad(p) {
		return "-"
	}
	decimals := 1
	switch a := math.Abs(p); {
	case a >= 1e9:
		return fmt.Sprintf("%+.2e%%", p)
	case a < 0.995:
		decimals = 2
	case a >= 99.95:
		decimals = 0
	}
	text := strconv.FormatFloat(p, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0%"
	}
	if p > 0 {
		text = "+" + text
	}
	return text + "%"
}

// Share formats a part of a whole as a percentage without decimals: 0.754 is 75%. Neither
// nothing nor all is that of any other: 0.003 is 0.3%, 0.9999 is 99.9%.
func Share(ratio float64) string {
	switch p := 100 * ratio; {
	case p > 0 && p < 0.95:
		return fmt.Sprintf("%.1g%%", p)
	case p >= 99.5 && p < 100:
		return fmt.Sprintf("%.1f%%", min(p, 99.9))
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}

// Level formats a probability as a percentage with all its digits: 99%, 99.9%.
func Level(probability float64) string { return fmt.Sprintf("%.6g%%", probability*100) }

// Format formats v by the name of its unit; it appends an unknown unit.
func Format(v float64, unit string) string {
	switch unit {
	case "ns":
		return NS(v)
	case "ops/s":
		return Rate(v)
	case "B", "bytes":
		return Bytes(v)
	case "":
		return Count(v)
	default:
		return Count(v) + " " + unit
	}
}

func scaled(v float64, scales []scale) string {
	if bad(v) {
		return "-"
	}
	s := scales[len(scales)-1]
	for _, c := range scales {
		// The comparison is on the rounded value, so that 999.96 does not
		// print as "1000".
		if round3(math.Abs(v)) >= c.factor {
			s = c
			break
		}
	}
	if math.Abs(v) >= absurd {
		return strings.TrimSpace(exponent(v) + " " + scales[len(scales)-1].suffix)
	}
	text := digits3(v/s.factor, s.factor == 1 && v == math.Trunc(v))
	if s.suffix == "" {
		return text
	}
	return text + " " + s.suffix
}

// digits3 prints three significant digits. Whole numbers have no fraction if
// integer says that v is one by nature.
func digits3(v float64, integer bool) string {
	decimals := 2
	switch a := round3(math.Abs(v)); {
	case integer || a >= 100:
		decimals = 0
	case a >= 10:
		decimals = 1
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

func round3(v float64) float64 {
	if v == 0 {
		return 0
	}
	m := math.Pow(10, 2-math.Floor(math.Log10(v)))
	return math.Round(v*m) / m
}

func bad(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// Round rounds nanoseconds to a tenth of a picosecond. That is below the
// resolution of a round, and spares result files the digits of binary
// fractions.
func Round(ns float64) float64 { return math.Round(ns*1e4) / 1e4 }
