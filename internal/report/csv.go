package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/thresholds"
)

// CSV writes runs as a table of RFC 4180 for spreadsheets and data frames: a header,
// and a line for each measure of each benchmark on each kernel. A benchmark that
// failed has a line without a measure, with the error. cpus is on how many CPUs the
// program ran at once.
//
// Names, paths and errors come from whoever wrote the objects, and a spreadsheet
// takes a text that begins with =, +, - or @ for a formula: such a text gets an
// apostrophe in front. Numbers are written as they are.
func CSV(w io.Writer, m *Model) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"benchmark", "driver", "object", "program", "measure", "unit", "exact", "median", "lower_quartile", "upper_quartile", "values", "cpus", "kernel", "mode", "arch", "cpu", "error"})
	for _, t := range m.Tables {
		testbed := &t.Run.Testbed
		for i := range t.Rows {
			r := &t.Rows[i]
			line := func(figures ...string) {
				record := append(texts(r.Benchmark, r.Driver, r.Object, r.Program), figures...)
				record = append(record, strconv.Itoa(max(r.CPUs, 1)))
				record = append(record, texts(testbed.Kernel, string(testbed.Mode), testbed.Arch, testbed.CPU, r.Error)...)
				_ = out.Write(record) // what fails is kept for Error
			}
			lines := 0
			for _, s := range r.Measures {
				if s.N == 0 {
					continue
				}
				line(cellText(s.Name), cellText(s.Unit), strconv.FormatBool(s.Exact), decimal(s.Center), decimal(s.Low), decimal(s.High), strconv.Itoa(s.N))
				lines++
			}
			if lines == 0 {
				line("", "", "", "", "", "", "0")
			}
		}
	}
	out.Flush()
	return out.Error()
}

// CompareCSV writes a judged comparison likewise: a line for each verdict, and for what
// no threshold is for, whose verdict is not-judged. Base and head are also those of a
// side that was not compared, such as an added benchmark's. The ratio is head over base,
// and empty, like its interval, where there is none.
func CompareCSV(w io.Writer, m *Comparison) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"benchmark", "measure", "unit", "exact", "base", "head", "delta", "ratio", "ratio_low", "ratio_high", "confidence", "p", "verdict", "severity", "why", "kernel", "mode"})
	for _, t := range m.Tables {
		rows := t.rows()
		for i := range rows {
			r := &rows[i]
			all := r.verdicts()
			if len(all) == 0 {
				all = []*thresholds.Verdict{{Benchmark: r.Benchmark}}
			}
			for _, v := range all {
				record := append(texts(v.Benchmark, v.Measure.Name, v.Measure.Unit), strconv.FormatBool(v.Measure.Exact))
				record = append(record, changeCells(r, v)...)
				outcome := cmp.Or(string(v.Outcome), "not-judged")
				record = append(record, texts(outcome, string(v.Severity), v.Why, t.Testbed.Kernel, string(t.Testbed.Mode))...)
				_ = out.Write(record)
			}
		}
	}
	out.Flush()
	return out.Error()
}

// changeCells are base, head, delta, ratio with its interval and confidence, and
// the p-value.
func changeCells(r *comparedRow, v *thresholds.Verdict) []string {
	cells := make([]string, 8)
	c := v.Change
	if c == nil {
		cells[0], cells[1] = centerCell(r.Base, v.Measure.Name), centerCell(r.Head, v.Measure.Name)
		return cells
	}
	cells[0], cells[1], cells[2] = decimal(c.Base), decimal(c.Head), decimal(c.Delta)
	if c.Ratio != 0 {
		cells[3] = decimal(c.Ratio)
	}
	if c.Bounded() && !c.Measure.Exact {
		cells[4], cells[5], cells[6], cells[7] = decimal(c.Low), decimal(c.High), decimal(c.Confidence), decimal(v.P)
	}
	return cells
}

// centerCell is the figure of a side that was compared with nothing.
func centerCell(r *bench.Result, measure string) string {
	if r == nil {
		return ""
	}
	if s := r.Sample(measure); s != nil && len(s.Values) > 0 {
		return decimal(stat.Summarize(*s).Center)
	}
	return ""
}

func decimal(v float64) string { return strconv.FormatFloat(unsigned(v), 'f', -1, 64) }

// unsigned is a number whose zero has no sign.
func unsigned(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

func texts(all ...string) []string {
	for i := range all {
		all[i] = cellText(all[i])
	}
	return all
}

// cellText is text that no spreadsheet takes for a formula.
func cellText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
