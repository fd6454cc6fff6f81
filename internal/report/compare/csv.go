package compare

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/thresholds"
)

// CSV writes a judged comparison like measured.CSV writes runs: a line for each
// verdict, and for each measure without a threshold, whose verdict is
// not-judged. Base and head are filled in even for a side that was not
// compared, such as an added benchmark's. The ratio is head over base; it and
// its interval are empty if there is none.
func CSV(w io.Writer, m *Model) error {
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
				record := append(report.Texts(v.Benchmark, v.Measure.Name, v.Measure.Unit), strconv.FormatBool(v.Measure.Exact))
				record = append(record, changeCells(r, v)...)
				outcome := cmp.Or(string(v.Outcome), "not-judged")
				record = append(record, report.Texts(outcome, string(v.Severity), v.Why, t.Testbed.Kernel, string(t.Testbed.Mode))...)
				_ = out.Write(record)
			}
		}
	}
	out.Flush()
	return out.Error()
}

// changeCells returns base, head, delta, ratio with its interval and
// confidence, and the p-value.
func changeCells(r *row, v *thresholds.Verdict) []string {
	cells := make([]string, 8)
	c := v.Change
	if c == nil {
		cells[0], cells[1] = centerCell(r.Base, v.Measure.Name), centerCell(r.Head, v.Measure.Name)
		return cells
	}
	cells[0], cells[1], cells[2] = report.Decimal(c.Base), report.Decimal(c.Head), report.Decimal(c.Delta)
	if c.Ratio != 0 {
		cells[3] = report.Decimal(c.Ratio)
	}
	if c.Bounded() && !c.Measure.Exact {
		cells[4], cells[5], cells[6], cells[7] = report.Decimal(c.Low), report.Decimal(c.High), report.Decimal(c.Confidence), report.Decimal(v.P)
	}
	return cells
}

// centerCell returns the figure of a side that was compared with nothing.
func centerCell(r *bench.Result, measure string) string {
	if r == nil {
		return ""
	}
	if s := r.Sample(measure); s != nil && len(s.Values) > 0 {
		return report.Decimal(stat.Summarize(*s).Center)
	}
	return ""
}
