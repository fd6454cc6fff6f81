package report

import (
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// None stands for a figure that is missing.
const None = "-"

// Center prints the center of a summary: behind a ~ where what was counted exactly was
// not the same each time.
func Center(s stat.Summary, m bench.Measure) string {
	if m.Exact && s.Low != s.High {
		return "~" + Number(s.Center, m)
	}
	return Number(s.Center, m)
}

// Number prints a value of a measure: rounded where it was timed, every digit where it
// was counted, and two decimals where that is a mean.
func Number(v float64, m bench.Measure) string {
	switch {
	case m.Exact:
		return unit.Mean(v)
	case bench.IsCustom(m.Name):
		return unit.Count(v) // of which the name is the unit
	}
	return escape.Printable(unit.Format(v, m.Unit))
}

// PerRun is how many instructions a run executes, 0 of nothing.
func PerRun(e *bench.Executed) float64 {
	if e == nil {
		return 0
	}
	return e.PerRun
}

// MoreInsns prints a difference with its sign, "=" of none.
func MoreInsns(v float64) string {
	switch v = unit.Tidy(v); {
	case v == 0:
		return "="
	case v > 0:
		return "+" + unit.Mean(v)
	}
	return unit.Mean(v)
}

// Decimal is a number with all of its digits, as a spreadsheet reads it.
func Decimal(v float64) string { return strconv.FormatFloat(Unsigned(v), 'f', -1, 64) }

// Unsigned is a number whose zero has no sign.
func Unsigned(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

// Texts are texts for a spreadsheet, which takes none of them for a formula.
func Texts(all ...string) []string {
	for i, s := range all {
		if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
			all[i] = "'" + s
		}
	}
	return all
}
