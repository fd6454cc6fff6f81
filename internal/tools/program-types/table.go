package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/runner"
)

// table says which sections are measured on each kernel.
type table struct {
	rows []row
	// unplanned maps the sections that are measured on no kernel to the reason.
	unplanned map[string]string
	runs      []*bench.Run
}

// row is a section, which determines the type of its program.
type row struct{ section, program string }

const intro = `# What can be measured

A program of each section name that libbpf knows, measured by the driver that it takes unless the suite says otherwise, on the kernel of a host and in virtual machines. Written by ` + "`make program-types`" + `; yours may differ.

`

// print prints a column for each kernel. Below the table are the reasons why programs are
// not measured, each once.
func (t *table) print(w io.Writer) error {
	var b strings.Builder
	var reasons []string
	b.WriteString(intro)
	b.WriteString("| section | type |")
	for _, run := range t.runs {
		fmt.Fprintf(&b, " %s |", escape.MarkdownLine(kernel(run)))
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(t.runs)) + "\n")
	for _, row := range t.rows {
		cells, typ := "", ""
		for _, run := range t.runs {
			r := t.find(row, run)
			typ = cmp.Or(typ, r.Type)
			why := reason(row, run, r)
			if why == "" {
				cells += fmt.Sprintf(" `%s` |", r.Driver)
				continue
			}
			if !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
			cells += fmt.Sprintf(" no (%d) |", slices.Index(reasons, why)+1)
		}
		fmt.Fprintf(&b, "| `%s` | %s |%s\n", row.section, cmp.Or(typ, "-"), cells)
	}
	b.WriteString("\nNot measured, because:\n\n")
	for i, why := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, escape.MarkdownLine(why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// kernel returns the name that selected a kernel, or the series of the host's.
func kernel(run *bench.Run) string {
	if run.Testbed.Asked != "host" {
		return run.Testbed.Asked
	}
	parts := strings.SplitN(run.Testbed.Kernel, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".") + " (host)"
}

func (t *table) find(row row, run *bench.Run) *bench.Result {
	for i := range run.Results {
		if run.Results[i].Benchmark == row.section {
			return &run.Results[i]
		}
	}
	return &bench.Result{Error: cmp.Or(t.unplanned[row.section], "not tried")}
}

// attachedTo matches what a probe in user space is attached to.
var attachedTo = regexp.MustCompile(`attach to \S*` + regexp.QuoteMeta("/"+target+":"+userCode))

// reason returns why a program was not measured, empty if it was. It leaves out names that
// are only its own or the kernel's, so that the same reason is the same text.
func reason(row row, run *bench.Run, r *bench.Result) string {
	why := r.Error
	for _, w := range r.Warnings {
		if reason, ok := strings.CutPrefix(w, runner.NotRun); ok {
			why = reason
		}
	}
	why = attachedTo.ReplaceAllString(why, "attach to it")
	if strings.Contains(row.section, "/") {
		why = strings.ReplaceAll(why, row.section, "it")
	}
	return strings.NewReplacer("kernel "+run.Testbed.Kernel, "this kernel", "program "+row.program, "it").Replace(why)
}
