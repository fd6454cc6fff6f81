package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// typesReport is what can be measured on one kernel.
type typesReport struct {
	Testbed bench.Testbed `json:"testbed"`
	Types   []typeResult  `json:"types"`
}

// typeResult is what became of the program of one section.
type typeResult struct {
	// Section is how an object says what type the program is of.
	Section string `json:"section"`
	Program string `json:"program"`
	Type    string `json:"type"`
	Driver  string `json:"driver"`
	// Runs is how often it ran.
	Runs uint64 `json:"runs"`
	// Why is why it was not measured, empty where it was.
	Why string `json:"why,omitempty"`
}

// kernel is the name that the kernel was asked for by, or the series of the host's.
func (r *typesReport) kernel() string {
	if r.Testbed.Asked != "" {
		return r.Testbed.Asked
	}
	parts := strings.SplitN(r.Testbed.Kernel, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".") + " (host)"
}

func (r *typesReport) find(section string) *typeResult {
	for i := range r.Types {
		if r.Types[i].Section == section {
			return &r.Types[i]
		}
	}
	return &typeResult{Why: "not tried"}
}

// generally is why a program is not measured, without the names that are just its
// own or the kernel's, so that the same reason is the same text.
func (r *typesReport) generally(t *typeResult) string {
	why := t.Why
	for _, part := range strings.Fields(why) {
		if strings.HasPrefix(part, t.Section) && strings.HasSuffix(strings.TrimRight(part, ":,"), userCode) {
			why = strings.ReplaceAll(why, strings.TrimRight(part, ":,"), "it")
		}
	}
	if strings.Contains(t.Section, "/") {
		why = strings.ReplaceAll(why, t.Section, "it")
	}
	return strings.NewReplacer("kernel "+r.Testbed.Kernel, "this kernel", "program "+t.Program, "it").Replace(why)
}

// printTypes lists what was found, a line each.
func printTypes(w io.Writer, reports []*typesReport) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range reports {
		fmt.Fprintf(tab, "Linux %s\n", escape.Printable(r.Testbed.Kernel))
		for _, t := range r.Types {
			how := t.Driver
			if t.Why != "" {
				how = "not measured: " + escape.Printable(t.Why)
			}
			fmt.Fprintf(tab, "  %s\t%s\t%s\n", t.Section, cmp.Or(t.Type, "-"), how)
		}
	}
	return tab.Flush()
}

const typesHead = `# What can be measured

A program of each section name that libbpf knows, measured by the driver that it takes unless the suite says otherwise, on the kernel of a host and in virtual machines. Written by ` + "`make program-types`" + `, which runs ` + "`ebpf-bench selftest types`" + `; yours may differ.

`

// printTypesMarkdown makes a table with a column for each kernel. Why a program is
// not measured stands below it, each reason once.
func printTypesMarkdown(w io.Writer, reports []*typesReport) error {
	var b strings.Builder
	var reasons []string
	note := func(why string) int {
		for i, r := range reasons {
			if r == why {
				return i + 1
			}
		}
		reasons = append(reasons, why)
		return len(reasons)
	}
	b.WriteString(typesHead)
	b.WriteString("| section | type |")
	for _, r := range reports {
		fmt.Fprintf(&b, " %s |", escape.MarkdownLine(r.kernel()))
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(reports)) + "\n")
	for _, section := range sectionsOf(reports) {
		typ := ""
		for _, r := range reports {
			typ = cmp.Or(typ, r.find(section).Type)
		}
		fmt.Fprintf(&b, "| `%s` | %s |", section, cmp.Or(typ, "-"))
		for _, r := range reports {
			t := r.find(section)
			if t.Why == "" {
				fmt.Fprintf(&b, " `%s` |", t.Driver)
			} else {
				fmt.Fprintf(&b, " no (%d) |", note(r.generally(t)))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\nNot measured, because:\n\n")
	for i, why := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, escape.MarkdownLine(why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
