package count

import (
	"bytes"
	"runtime"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/arch/x86/x86asm"

	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// machineCode counts the machine instructions that the JIT made of each
// instruction of the job's programs, by program. It is an estimate: the kernel
// reports where the code of each source line begins, so machineCode loads a
// copy in which every instruction is a line of its own. The first one includes
// what the JIT puts before it, such as the prologue. The result lacks programs
// for which the kernel does not report it.
func machineCode(j *plan.Job) map[string][]int {
	spec := j.Spec.Copy()
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			p.Instructions[i] = p.Instructions[i].WithSource(asm.Comment(strconv.Itoa(i)))
		}
	}
	coll, _, err := subject.LoadJob(j, spec.Copy())
	if err != nil {
		return nil
	}
	defer load.Close(coll)
	counts := map[string][]int{}
	for name, p := range coll.Programs {
		if n := machineInstructions(p, len(spec.Programs[name].Instructions)); n != nil {
			counts[name] = n
		}
	}
	return counts
}

// machineInstructions returns the counts of a program in which the line of each
// instruction is its index, or nil if the kernel does not report them.
func machineInstructions(p *ebpf.Program, instructions int) []int {
	info, err := p.Info()
	if err != nil {
		return nil
	}
	lines, err := info.LineInfos()
	if err != nil {
		return nil
	}
	starts, ok := info.JitedLineInfos()
	code, hasCode := info.JitedInsns()
	addresses, hasAddresses := info.JitedKsymAddrs()
	lengths, hasLengths := info.JitedFuncLens()
	if !ok || !hasCode || !hasAddresses || !hasLengths || len(starts) != len(lines) || len(addresses) != len(lengths) {
		return nil
	}
	counts := make([]int, instructions)
	at := 0 // the next line
	for f, length := range lengths {
		if uint64(len(code)) < uint64(length) {
			return nil
		}
		function := code[:length]
		code = code[length:]
		begin := uint64(addresses[f])
		inside := func(i int) bool { return i < len(starts) && starts[i] >= begin && starts[i] < begin+uint64(length) }
		for from := uint64(0); inside(at); at++ {
			to := uint64(length)
			if inside(at + 1) {
				to = starts[at+1] - begin
			}
			i, err := strconv.Atoi(strings.TrimSpace(lines[at].Line.Line()))
			if err != nil || i < 0 || i >= instructions || to < from {
				return nil
			}
			counts[i] += countMachine(function[from:to])
			from = to
		}
	}
	return counts
}

// endbr64 marks where CET allows an indirect jump to land; the decoder does not
// know it.
var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// countMachine counts the machine instructions of a piece of code. It takes
// what the decoder does not know for an instruction of one byte.
func countMachine(code []byte) (n int) {
	if runtime.GOARCH != "amd64" {
		return len(code) / 4 // fixed size on all others that have a JIT and Go
	}
	for ; len(code) > 0; n++ {
		size := 1
		if bytes.HasPrefix(code, endbr64) {
			size = len(endbr64)
		} else if in, err := x86asm.Decode(code, 64); err == nil {
			size = in.Len
		}
		code = code[size:]
	}
	return n
}
