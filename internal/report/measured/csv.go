package measured

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/org/ebpf-bench-action/internal/report"
)

// CSV writes runs as a table of RFC 4180 for spreadsheets and data frames: a
// header, and a line for each measure of each benchmark on each kernel. A
// benchmark that failed has a line without a measure, with the error. cpus is
// the number of CPUs that ran the program at once.
//
// Names, paths and errors come from whoever wrote the objects, and a
// spreadsheet takes a text that starts with =, +, - or @ for a formula: such a
// text gets an apostrophe in front. Numbers are written as they are.
func CSV(w io.Writer, m *Model) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"benchmark", "driver", "object", "program", "measure", "unit", "exact", "median", "lower_quartile", "upper_quartile", "values", "cpus", "kernel", "mode", "arch", "cpu", "error"})
	for _, t := range m.Tables {
		testbed := &t.Run.Testbed
		for i := range t.Rows {
			r := &t.Rows[i]
			line := func(figures ...string) {
				record := append(report.Texts(r.Benchmark, r.Driver, r.Object, r.Program), figures...)
				record = append(record, strconv.Itoa(max(r.CPUs, 1)))
				record = append(record, report.Texts(testbed.Kernel, string(testbed.Mode), testbed.Arch, testbed.CPU, r.Error)...)
				_ = out.Write(record) // Error reports failures
			}
			lines := 0
			for _, s := range r.Measures {
				if s.N == 0 {
					continue
				}
				line(append(report.Texts(s.Name, s.Unit), strconv.FormatBool(s.Exact), report.Decimal(s.Center), report.Decimal(s.Low), report.Decimal(s.High), strconv.Itoa(s.N))...)
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
