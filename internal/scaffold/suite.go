package scaffold

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner"
)

// Suite holds the contents of a suite file.
type Suite struct {
	// Objects are the paths of the objects, or patterns, as the file has them.
	Objects []string
	// Kernels are the kernels to measure on; none means the running one.
	Kernels []string
	// Thresholds is the path of the thresholds file, or "".
	Thresholds string
	Programs   []Program
	// Notes are further remarks for the reader, a sentence each.
	Notes []string
}

// Program is an entry program and the result of trying it.
type Program struct {
	runner.Entry
	// Unhooked says why it could not be attached to its hook here. Its
	// benchmark leaves the driver to its type, so that a kernel that can
	// attaches it.
	Unhooked string
	// Undriven says why nothing can drive it here, so that it is only loaded.
	Undriven string
	// Refused says why it cannot be measured at all. It becomes a comment.
	Refused string
	// Searched says in a sentence what a search of it reached, and Inputs are those that
	// it found, besides that of the benchmark.
	Searched string
	Inputs   []Input
}

// Input is a benchmark of a program on an input that a search found.
type Input struct{ Benchmark, text string }

// Benchmarks returns the programs that get a benchmark.
func (s *Suite) Benchmarks() []*Program {
	var all []*Program
	for i := range s.Programs {
		if p := &s.Programs[i]; p.Refused == "" && !p.elsewhere() {
			all = append(all, p)
		}
	}
	return all
}

// elsewhere reports whether a program gets no benchmark of its own.
func (p *Program) elsewhere() bool {
	return len(p.Callers) > 0 || p.Untyped || p.Replaces && p.Target == nil
}

// Misspelled reports whether it is most likely a slip in the name of its hook
// that keeps it from being driven.
func (p *Program) Misspelled() bool { return strings.Contains(p.Undriven, runner.Misspelled) }

// Drives returns the driver that its benchmark has here.
func (p *Program) Drives() string {
	if p.Undriven != "" || p.Unhooked != "" {
		return "verify"
	}
	return p.Driver
}

const head = `# What ebpf-bench measures, and how. Written by ebpf-bench init; it is yours
# to change. "ebpf-bench list" checks it, "sudo ebpf-bench run" measures.
`

// Text returns the suite file.
func (s *Suite) Text() string {
	w := &writer{}
	w.raw("# yaml-language-server: $schema=" + suite.SchemaURL + "\n#\n" + head)
	for _, note := range s.Notes {
		w.raw("#\n")
		w.comment(0, note)
	}
	w.line(0, "version: %d", suite.Version)
	w.raw("\nobjects:\n")
	for _, o := range s.Objects {
		w.line(2, "- %s", scalar(o))
	}
	w.raw("\n")
	s.settings(w)
	w.raw("\nbenchmarks:\n")
	for i := range s.Programs {
		if i > 0 {
			w.raw("\n")
		}
		w.program(&s.Programs[i])
	}
	return w.String()
}

// settings writes the settings for all benchmarks.
func (s *Suite) settings(w *writer) {
	if s.Thresholds != "" {
		w.comment(0, "What run and compare judge by.")
		w.line(0, "thresholds: %s\n", scalar(s.Thresholds))
	}
	w.comment(0, "The measuring time of each benchmark. A longer time shows smaller differences.")
	w.raw("# budget: 1s\n\n")
	if len(s.Kernels) > 0 {
		w.comment(0, "The kernels to measure on, in virtual machines that count instructions: the same number on every machine, without root.")
		w.line(0, "kernels: %s", list(s.Kernels))
		return
	}
	w.comment(0, "With a list of kernels each benchmark is measured in virtual machines that count instructions: the same number on every machine, without root.")
	w.raw("# kernels: [\"6.1\", \"6.12\"]\n")
}

// writer writes the lines of a YAML file.
type writer struct {
	strings.Builder
	// anchored says that the packets have a name already, attached that the
	// other way to drive an XDP program was mentioned, loads that the way to
	// drive hooks was.
	anchored, attached, loads bool
}

func (w *writer) raw(text string) { w.WriteString(text) }

func (w *writer) line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat(" ", indent) + fmt.Sprintf(format, args...) + "\n")
}

// comment writes sentences as lines of at most 80 columns.
func (w *writer) comment(indent int, text string) {
	for _, line := range wrapped(text, 80-indent-2) {
		w.line(indent, "# %s", line)
	}
}

func list(all []string) string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, strconv.Quote(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
