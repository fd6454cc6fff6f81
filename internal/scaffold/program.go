package scaffold

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner"
)

// packets are inputs for programs that parse packets: a program that
// distinguishes protocols has a branch for each.
const packets = `- {ipv4: {src: 10.0.0.1, dst: 10.0.1.1}, udp: {src: 4000, dst: 53}, size: 64}
- {ipv4: {src: 10.0.0.1, dst: 10.0.1.1}, tcp: {src: 40000, dst: 443, flags: [ack]}, size: 128}
- {ipv6: {src: "fd00::1", dst: "fd00::2"}, tcp: {src: 40000, dst: 443, flags: [syn]}, size: 96}`

// program writes the benchmark of a program, or why it has none.
func (w *writer) program(p *Program) {
	switch {
	case len(p.Callers) > 0:
		w.comment(2, fmt.Sprintf("%s is tail called by %s, and measured with it.", p.Program, strings.Join(p.Callers, ", ")))
		return
	case p.Untyped:
		w.comment(2, fmt.Sprintf("%s is not measured: its section %q says no known type, as xdp, tc or kprobe/NAME would.", p.Program, p.Section))
		return
	case p.Replaces && p.Target == nil:
		w.comment(2, fmt.Sprintf("%s (%s) replaces a function of another program, and is measured with that one: name it by replace in a benchmark of that.", p.Program, p.Section))
		return
	case p.Refused != "":
		w.comment(2, fmt.Sprintf("%s (%s) is not measured: %s", p.Program, hook(p), sentence(p.Refused)))
		w.line(2, "# - name: %s", scalar(p.Benchmark))
		w.names(p, "  #   ")
		w.line(2, "#   %s: {}", p.Driver)
		return
	}
	w.comment(2, w.what(p))
	w.line(2, "- name: %s", scalar(p.Benchmark))
	w.names(p, "    ")
	w.globals(p.Globals)
	w.maps(p.Maps)
	w.driver(p)
	w.inputs(p)
}

// inputs writes what a search found: how much of the program it reached, and the benchmarks
// of the inputs.
func (w *writer) inputs(p *Program) {
	if p.Searched != "" {
		w.raw("\n")
		w.comment(2, p.Searched)
	}
	for _, in := range p.Inputs {
		w.raw("\n" + in.text)
	}
}

func (w *writer) names(p *Program, indent string) {
	name := func(e *runner.Entry, first, indent string) {
		if e.Ambiguous {
			w.raw(first + "object: " + scalar(e.Object) + "\n")
			first = indent
		}
		w.raw(first + "program: " + scalar(e.Program) + "\n")
	}
	if p.Target == nil {
		name(&p.Entry, indent, indent)
		return
	}
	name(p.Target, indent, indent)
	w.raw(indent + "replace:\n")
	name(&p.Entry, indent+"  - ", indent+"    ")
}

// what describes the kind of program, and what that means for measuring it.
func (w *writer) what(p *Program) string {
	text := hook(p) + ": "
	if p.Target != nil {
		text += "replaces a function of " + p.Target.Program + ", "
	}
	switch {
	case p.Unhooked != "":
		return text + "attached to its hook where the kernel can do that, else only loaded, as here: " + sentence(p.Unhooked)
	case p.Misspelled():
		return text + "only loaded until its hook has the right name: " + sentence(p.Undriven)
	case p.Undriven != "":
		return text + "only loaded, for what the verifier and the JIT make of it, as it could not be run: " + sentence(p.Undriven)
	case p.Why != "":
		return text + "only loaded, for what the verifier and the JIT make of it: " + sentence(p.Why)
	}
	switch {
	case p.Driver == bench.DriverTestRun && p.Packets:
		return text + "each packet is run equally often."
	case strings.HasPrefix(p.Section, "iter"):
		return text + "run by reading all that it iterates over."
	case p.Driver == bench.DriverCommand:
		return text + w.hooked()
	}
	return text + bench.DriverWords(p.Driver) + "."
}

// hooked says how tracing programs are driven and, the first time, which
// settings exist.
func (w *writer) hooked() string {
	if w.loads {
		return "attached to its hook, which a load triggers."
	}
	w.loads = true
	return "attached to its hook, which a load triggers that suits the hook. command: {run: [COMMAND, ARGUMENT]} has a command of yours trigger it, load: NAME another load."
}

func hook(p *Program) string {
	if p.Section == p.Type {
		return p.Type
	}
	return p.Type + ", section " + p.Section
}

// driver writes the driver of a benchmark.
func (w *writer) driver(p *Program) {
	switch driver := p.Drives(); {
	case p.Unhooked != "":
		w.line(4, "# command: {} # makes an error of a kernel that cannot attach it")
	case p.Undriven != "":
		w.line(4, "verify: {} # in place of %s: {}", p.Driver)
	case driver == bench.DriverTestRun && p.Packets:
		w.packets(p)
	default:
		w.line(4, "%s: %s", driver, cmp.Or(bench.DriverStart(driver), "{}"))
	}
}

// packets writes the packets the first time they are needed, and refers to them
// after that.
func (w *writer) packets(p *Program) {
	if p.Type == "xdp" && !w.attached {
		w.attached = true
		w.comment(4, "Use \"veth\" instead of \"test_run\" to attach it to an interface and send it the packets.")
	}
	if w.anchored {
		w.line(4, "test_run: {packets: *packets}")
		return
	}
	w.anchored = true
	w.line(4, "test_run:")
	w.line(6, "packets: &packets")
	for line := range strings.SplitSeq(packets, "\n") {
		w.line(8, "%s", line)
	}
}

// mostListed is how many globals of a program are listed.
const mostListed = 12

// globals lists the globals that can be set before the program is loaded, in
// comments ready to be enabled.
func (w *writer) globals(all []runner.Global) {
	if len(all) == 0 {
		return
	}
	w.line(4, "# globals:")
	for i, g := range all {
		if i == mostListed {
			w.line(4, "# (and %d more)", len(all)-mostListed)
			return
		}
		if g.Value == nil {
			w.line(4, "#   (%s: %s)", clean(g.Name), sized(g.Type, g.Size))
			continue
		}
		w.line(4, "#   %s: %s # %s", scalar(g.Name), value(g.Value), sized(g.Type, g.Size))
	}
}

// mostHex is how many hex digits of a value are shown.
const mostHex = 32

// maps lists the maps that can be filled before the program runs.
func (w *writer) maps(all []runner.MapOutline) {
	if len(all) == 0 {
		return
	}
	w.line(4, "# maps:")
	for _, m := range all {
		switch {
		case m.Calls:
			w.line(4, "#   %s: {entries: [{key: 0, program: %s}]} # %s", scalar(m.Name), scalar(cmp.Or(m.Callable, "NAME")), mapWords(&m))
			continue
		case m.Events:
			w.line(4, "#   %s: {reset: never} # %s", scalar(m.Name), mapWords(&m))
			continue
		}
		if !m.Fillable || 2*max(m.KeySize, m.ValueSize) > mostHex {
			w.line(4, "#   (%s: %s)", clean(m.Name), mapWords(&m))
			continue
		}
		key := ""
		if m.KeySize > 0 {
			key = "key: " + zero(m.KeySize) + ", "
		}
		w.line(4, "#   %s: {entries: [{%svalue: %s}]} # %s", scalar(m.Name), key, zero(m.ValueSize), mapWords(&m))
	}
}

func mapWords(m *runner.MapOutline) string {
	text := fmt.Sprintf("%s of %d", m.Type, m.Entries)
	if m.KeySize > 0 && m.ValueSize > 0 {
		text += ": " + sized(m.KeyType, m.KeySize) + " to " + sized(m.ValueType, m.ValueSize)
	}
	return text
}
