package doctorcmd

import (
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// printMatrix prints a row a probe and a column a kernel, and below it why an
// answer is not yes.
func printMatrix(t *ui.Terminal, kernels []examined) error {
	const gap = 2
	color := t.Colored(t.Stdout)
	rows := probeNames(kernels)
	first := 0
	for _, name := range rows {
		first = max(first, len(name))
	}
	var b, reasons strings.Builder
	titles := columnTitles(kernels)
	fmt.Fprintf(&b, "%-*s", first, "")
	for _, title := range titles {
		fmt.Fprintf(&b, "%*s%-*s", gap, "", columnWidth(title), title)
	}
	for _, name := range rows {
		fmt.Fprintf(&b, "\n%-*s", first, name)
		for i, k := range kernels {
			f := findingOf(k, name)
			fmt.Fprintf(&b, "%*s%s", gap, "", mark(f.Answer, columnWidth(titles[i]), color))
			if f.Answer != probe.Yes {
				reasons.WriteString(ui.Wrap(fmt.Sprintf("%s on %s: %s", name, ui.Clean(k.release), ui.Clean(f.Reason)), t.Columns(), 2) + "\n")
			}
		}
	}
	text := trimLines(b.String()) + "\n"
	if reasons.Len() > 0 {
		text += "\n" + reasons.String()
	}
	_, err := fmt.Fprint(t.Stdout, text)
	return err
}

// columnTitles are the versions of the kernels, or their whole releases where
// two have the same version.
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

func columnWidth(title string) int { return max(len(title), len(probe.Unknown)) }

// probeNames lists the probes that any of the kernels was asked, in their
// order.
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

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
