package report

import (
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// None stands for a missing figure.
const None = "-"

// Center prints the center of a summary: after a ~ if an exact count was not
// the same each time.
func Center(s stat.Summary, m bench.Measure) string {
	if m.Exact && s.Low != s.High {
		return "~" + Number(s.Center, m)
	}
	return Number(s.Center, m)
}

// Number prints a value of a measure: rounded if it was timed, every digit if
// it was counted, and two decimals if that is a mean.
func Number(v float64, m bench.Measure) string {
	switch {
	case m.Exact:
		return unit.Mean(v)
	case bench.IsCustom(m.Name):
		return unit.Count(v) // its name is the unit
	}
	return escape.Printable(unit.Format(v, m.Unit))
}

// PerRun returns how many instructions a run executes, or 0 if e is nil.
func PerRun(e *bench.Executed) float64 {
	if e == nil {
		return 0
	}
	return e.PerRun
}

// MoreInsns prints a difference with its sign, or "=" for none.
func MoreInsns(v float64) string {
	switch v = unit.Tidy(v); {
	case v == 0:
		return "="
	case v > 0:
		return "+" + unit.Mean(v)
	}
	return unit.Mean(v)
}

// Decimal formats a number with all of its digits, as a spreadsheet reads it.
func Decimal(v float64) string { return strconv.FormatFloat(Unsigned(v), 'f', -1, 64) }

// Unsigned returns v without the sign of a negative zero.
func Unsigned(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

// Texts returns texts that a spreadsheet takes for texts, and never for formulas.
func Texts(all ...string) []string {
	for i, s := range all {
		all[i] = escape.LogText(s)
		if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
			all[i] = "'" + all[i]
		}
	}
	return all
}

// ExplainColumns is in place of what the columns of a table mean.
const ExplainColumns = "What the columns mean: --explain-columns"
