package vm

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
)

// maxConsole bounds what is kept of a console that does not stop printing.
const maxConsole = 1 << 20

// console keeps the latest output of a kernel.
type console struct {
	text []byte
}

func (c *console) add(p []byte) {
	c.text = append(c.text, p...)
	if len(c.text) > 2*maxConsole {
		c.text = append([]byte(nil), c.text[len(c.text)-maxConsole:]...)
	}
}

// report is what a console says about the end of its kernel. The first line of
// each kind is the cause; later ones are consequences.
type report struct {
	// fault is what the kernel did wrong, and panic why it gave up. Either may
	// be empty.
	fault, panic string
	// rip is the instruction that the kernel was executing, and calls lead
	// there.
	rip   string
	calls []string
	// noMemory says that the kernel complained of too little memory.
	noMemory bool
	// last is the last line, if there is nothing better.
	last string
}

// maxCalls bounds the calls of a report.
const maxCalls = 16

var (
	// Each line starts with the time, and with its CPU or task if the kernel is
	// built that way.
	lineStart = regexp.MustCompile(`^(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *[CT]\d+\])? ?`)
	faultLine = regexp.MustCompile(`^(?:BUG: |Oops: |kernel BUG at |general protection fault|divide error: |invalid opcode: )`)
	panicLine = regexp.MustCompile(`^Kernel panic - not syncing: (.*)`)
	// The segment of the kernel is 0x10, that of a process 0x33.
	ripLine = regexp.MustCompile(`^RIP: 0010:(.+)`)
	// A call with a question mark merely happened to be on the stack.
	callLine = regexp.MustCompile(`^ +(([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+.*)`)
	noMemory = regexp.MustCompile(`System is deadlocked on memory|not syncing: Out of memory|Initramfs unpacking failed: write error`)
	// These lines come last, and say nothing.
	closing = regexp.MustCompile(`^(?:Kernel Offset: |---\[ end |reboot: |Rebooting )`)
)

// reporting are the functions by which a kernel gets from its fault to its
// report.
var reporting = map[string]bool{"dump_stack": true, "dump_stack_lvl": true, "panic": true, "vpanic": true}

// report reads the console.
func (c *console) report() report {
	var r report
	// traces counts the call traces. Within the first one, the NMI's own part
	// describes the interruption, not what was interrupted.
	traces, inNMI := 0, false
	for raw := range bytes.Lines(c.text) {
		line := lineStart.ReplaceAllString(strings.TrimRight(string(raw), "\r\n "), "")
		if line != "" && !closing.MatchString(line) {
			r.last = line
		}
		r.noMemory = r.noMemory || noMemory.MatchString(line)
		switch m := panicLine.FindStringSubmatch(line); {
		case m != nil:
			r.panic = cmp.Or(r.panic, m[1])
		case faultLine.MatchString(line):
			r.fault = cmp.Or(r.fault, line)
		case r.fault == "" && r.panic == "":
			// What comes before are warnings.
		case line == "Call Trace:":
			traces++
		case line == " <NMI>" || line == " </NMI>":
			inNMI = line == " <NMI>"
		case r.rip == "" && ripLine.MatchString(line):
			r.rip = ripLine.FindStringSubmatch(line)[1]
		case traces == 1 && !inNMI && len(r.calls) < maxCalls:
			if m := callLine.FindStringSubmatch(line); m != nil && !reporting[m[2]] {
				r.calls = append(r.calls, m[1])
			}
		}
	}
	return r
}

// reason returns why the kernel ended, in one line.
func (r *report) reason() string { return cmp.Or(r.fault, r.panic) }

// at returns the function that the kernel was in, or the program if that was
// just interrupted: the program is what does not end.
func (r *report) at() string {
	for _, call := range append([]string{r.rip}, r.calls...) {
		if function, _, _ := strings.Cut(call, "+"); strings.HasPrefix(function, "bpf_prog_") {
			return function
		}
	}
	function, _, _ := strings.Cut(r.rip, "+")
	return function
}

// trace returns the report for a person.
func (r *report) trace() []string {
	var lines []string
	if r.fault != "" {
		lines = append(lines, r.fault)
	}
	if r.panic != "" {
		lines = append(lines, "Kernel panic - not syncing: "+r.panic)
	}
	if r.rip != "" {
		lines = append(lines, "RIP: "+r.rip)
	}
	if len(r.calls) > 0 {
		lines = append(lines, "Call Trace:")
	}
	for _, call := range r.calls {
		lines = append(lines, "  "+call)
	}
	return lines
}
