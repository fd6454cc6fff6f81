package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// What reports over several kernels have in common: short names of the kernels,
// and that what is the same on all of them is said once.

// labels are short names that tell testbeds apart: the series of the kernel, its
// whole release where two have the same series, and the mode too where two have
// the same release.
func labels(testbeds []*bench.Testbed) []string {
	series, releases := map[string]int{}, map[string]int{}
	for _, t := range testbeds {
		series[bench.Series(t.Kernel)]++
		releases[t.Kernel]++
	}
	var all []string
	for _, t := range testbeds {
		switch {
		case series[bench.Series(t.Kernel)] == 1:
			all = append(all, bench.Series(t.Kernel))
		case releases[t.Kernel] == 1:
			all = append(all, t.Kernel)
		default:
			all = append(all, t.Kernel+" "+string(t.Mode))
		}
	}
	return all
}

// allKernels stands for the labels of all kernels.
const allKernels = "all kernels"

// onKernels names kernels by their labels: all of them in two words.
func onKernels(on []string, total int) string {
	if len(on) == total {
		return allKernels
	}
	return strings.Join(on, ", ")
}

// heads are the lines that say what was measured: a machine with all of its
// kernels, and below what runs said of themselves, with the kernel where not all
// of them said the same.
type heads struct {
	machines, runs []*headLine
}

type headLine struct {
	text string
	// kernels are the releases on a machine, or the labels of runs.
	kernels []string
}

func addHead(lines []*headLine, text, kernel string) []*headLine {
	i := slices.IndexFunc(lines, func(l *headLine) bool { return l.text == text })
	if i < 0 {
		return append(lines, &headLine{text, []string{kernel}})
	}
	if !slices.Contains(lines[i].kernels, kernel) {
		lines[i].kernels = append(lines[i].kernels, kernel)
	}
	return lines
}

// add adds a run: what measured it, beside its kernel, and what it says of
// itself.
func (h *heads) add(t *bench.Testbed, label string, run ...string) {
	h.machines = addHead(h.machines, machine(t), t.Kernel)
	for _, line := range run {
		h.runs = addHead(h.runs, line, label)
	}
}

// lines are the lines, of which those with several kernels are broken.
func (h *heads) lines(total int) []string {
	var all []string
	for _, m := range h.machines {
		if len(m.kernels) == 1 {
			all = append(all, escape.Printable("Linux "+m.kernels[0])+" · "+m.text)
			continue
		}
		all = append(all, wrap(escape.Printable("Linux "+strings.Join(m.kernels, ", ")), "      ", maxWidth), m.text)
	}
	for _, r := range h.runs {
		if len(r.kernels) == total {
			all = append(all, r.text)
			continue
		}
		all = append(all, escape.Printable(strings.Join(r.kernels, ", "))+": "+r.text)
	}
	return all
}

const (
	// textWidth is how wide running text is: what fits every terminal.
	textWidth = 80
	// maxWidth is how wide a line with figures may be before it is broken.
	maxWidth = 100
)

// wrap breaks text at spaces into lines of at most that width; those after the
// first are indented.
func wrap(sentence, indent string, most int) string { return Wrap(sentence, most, 0, len(indent)) }

// Wrap breaks text at spaces so that it fits in so many columns. The first line
// stands behind so many columns of something else; those after it are indented.
func Wrap(s string, columns, first, indent int) string {
	var b strings.Builder
	column, fresh := first, true
	for _, word := range strings.Fields(s) {
		width := text.StringWidthWithoutEscSequences(word)
		switch {
		case fresh:
		case column+1+width > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column, fresh = column+width, false
	}
	return b.String()
}
