package load

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

var (
	registerLine    = regexp.MustCompile(`^R\d`)
	instructionLine = regexp.MustCompile(`^(\d+): \(`)
	processedLine   = regexp.MustCompile(`^(?:insns )?processed (\d+)`)
	// statisticLine matches the last lines of the verifier's log. Since Linux
	// 7.1, the first of them is "insns processed".
	statisticLine = regexp.MustCompile(`^(processed \d|insns processed|verification time |stack depth |mark_read |$)`)
)

// maxStates is the most lines that the verifier ends with to describe a loop:
// the finding, its state now and the one before.
const maxStates = 3

// readLog returns the line of a verifier log that says why a program was
// refused, and the source line of the refused instruction: the last one that is
// quoted before.
func readLog(log []string) (reason, source string) {
	end := len(log)
	for end > 0 && statisticLine.MatchString(strings.TrimSpace(log[end-1])) {
		end--
	}
	if end == 0 {
		return "", ""
	}
	reason = strings.TrimSpace(log[end-1])
	// After finding a loop, the verifier prints its states.
	for _, line := range log[max(0, end-maxStates):end] {
		if _, found, ok := strings.Cut(line, "infinite loop detected"); ok {
			reason = "infinite loop detected" + found
		}
	}
	// A line about a register explains the line before it.
	if end > 1 && registerLine.MatchString(reason) && !instructionLine.MatchString(log[end-2]) {
		reason = strings.TrimSpace(log[end-2]) + ": " + reason
	}
	for _, line := range log[:end-1] {
		// The library writes a comment into an instruction that it poisons,
		// which is not a source line.
		if s, ok := strings.CutPrefix(line, "; "); ok && !strings.Contains(s, "poisoned by") {
			source = s
		}
	}
	// Since Linux 6.9 a quoted line ends in "@ file.c:41".
	if text, where, ok := strings.Cut(source, " @ "); ok {
		source = where + ": " + strings.TrimSpace(text)
	}
	return reason, source
}

// logClasses are the classes of the verifier's messages.
var logClasses = []struct {
	says        []string
	class, hint string
}{
	{[]string{"failed to find the address for kernel symbol"}, classLacks,
		"the kernel knows where its variables are if it is built with CONFIG_KALLSYMS_ALL; " + doctorHint},
	{[]string{"BPF program is too large", "too many instructions", "too complex", "Too many subprograms", "combined stack size"}, classTooLarge,
		"make the program smaller, or its loops and branches fewer: the verifier follows 1,000,000 instructions at most"},
	{[]string{"infinite loop detected"}, classVerifier,
		"the verifier sees nothing change from one pass of the loop to the next: count in a variable that is not volatile, or loop by bpf_loop"},
	{[]string{"GPL-restricted", "GPL compatible", "GPL-compatible"}, classLicense,
		`give the object a license: char LICENSE[] SEC("license") = "GPL"`},
	{[]string{"does not have", "this kernel's types lack"}, classLacks, doctorHint},
	{[]string{"Tracing programs must provide btf_id", "attach_btf", "attach to unsupported", "is not a kernel function", "Attaching to", "replace", "is not modifiable"}, classTarget,
		"it attaches to what this kernel does not have, or does not allow: " + doctorHint},
	{[]string{"cannot use helper bpf_override_return"}, classFeature,
		"it takes a kernel with CONFIG_BPF_KPROBE_OVERRIDE, and to be a kprobe; " + doctorHint},
	{[]string{"unknown func", "invalid func", "unknown opcode", "unrecognized", "cannot use helper", "cannot use map_type", "BTF is required"}, classFeature,
		"it takes a newer kernel, or another type of program; " + doctorHint},
}

// classOfLog returns the class of the verifier's message, with a hint.
func classOfLog(reason string) (class, hint string) {
	for _, c := range logClasses {
		if slices.ContainsFunc(c.says, func(s string) bool { return strings.Contains(reason, s) }) {
			return c.class, c.hint
		}
	}
	return classVerifier, verboseHint
}

// missingRelocation names what an instruction needs and the kernel's types
// lack. It returns "" if the verifier refused something else. For such an
// instruction, which the library poisons, the library replaces the cause by one
// of its own.
func missingRelocation(p *ebpf.ProgramSpec, err *ebpf.VerifierError) string {
	switch err.Cause.Error() {
	case "unknown kfunc":
		return "it calls a kernel function (kfunc) that this kernel does not have"
	case "bad CO-RE relocation":
	default:
		return ""
	}
	const missing = "this kernel's types lack what it needs of %s"
	for _, line := range slices.Backward(err.Log) {
		m := instructionLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, _ := strconv.Atoi(m[1])
		iter := p.Instructions.Iterate()
		for iter.Next() {
			if iter.Offset != asm.RawInstructionOffset(at) {
				continue
			}
			if relo := btf.CORERelocationMetadata(iter.Ins); relo != nil {
				return fmt.Sprintf(missing, relocated(relo))
			}
		}
		break
	}
	return fmt.Sprintf(missing, "them")
}

var relocationText = regexp.MustCompile(`^CORERelocation\((\w+), (\w+):"([^"]*)"`)

// relocated names the type that a relocation refers to.
func relocated(relo *btf.CORERelocation) string {
	if m := relocationText.FindStringSubmatch(relo.String()); m != nil {
		return fmt.Sprintf("%s %s (%s)", strings.ToLower(m[2]), m[3], m[1])
	}
	return relo.String()
}
