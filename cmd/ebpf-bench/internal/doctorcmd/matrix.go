package doctorcmd

import (
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// printMatrix prints a row per probe and a column per kernel, and below them the reason
// for each answer that is not yes.
func printMatrix(t *ui.Terminal, kernels []examined) error {
	table := new(grid.Grid).Left("")
	for _, title := range columnTitles(kernels) {
		// Any answer fits.
		table.Left(fmt.Sprintf("%-*s", len(probe.Unknown), title))
	}
	var reasons strings.Builder
	for _, name := range probeNames(kernels) {
		row := grid.Words(name)
		for _, k := range kernels {
			f := findingOf(k, name)
			row = append(row, mark(f.Answer))
			if f.Answer != probe.Yes {
				reasons.WriteString(ui.Wrap(fmt.Sprintf("%s on %s: %s", name, ui.Clean(k.release), ui.Clean(f.Reason)), t.Columns(), 2) + "\n")
			}
		}
		table.Row(row...)
	}
	text := table.Text(0, t.Colored(t.Stdout)) + "\n"
	if reasons.Len() > 0 {
		text += "\n" + reasons.String()
	}
	_, err := fmt.Fprint(t.Stdout, text)
	return err
}

// columnTitles returns the versions of the kernels, or their whole releases if two have
// the same version.
func columnTitles(kernels []examined) []string {
	var short, whole []string
	for _, k := range kernels {
		version := k.release
		if end := strings.IndexAny(version, "-+"); end > 0 {
			version = version[:end]
		}
		short = append(short, ui.Clean(version))
		whole = append(whole, ui.Clean(k.release))
	}
	if len(unit.Unique(short)) < len(short) {
		return whole
	}
	return short
}

// probeNames returns the probes that ran on any of the kernels, in order.
func probeNames(kernels []examined) []string {
	var names []string
	for _, k := range kernels {
		for _, f := range k.findings {
			names = append(names, f.Name)
		}
	}
	return unit.Unique(names)
}

func findingOf(k examined, name string) probe.Finding {
	for _, f := range k.findings {
		if f.Name == name {
			return f
		}
	}
	return probe.Finding{Answer: probe.Unknown, Reason: "not asked"}
}
