package load

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Samples returns the figures of loaded programs that no run changes: the
// verifier's work, the size of the compiled programs, and the memory of maps.
// of names the programs and maps to include: the entry program, those that it
// tail calls, and what they use. Samples leaves out what the kernel does not
// report.
func Samples(coll *ebpf.Collection, of map[string]bool) []bench.Sample {
	sums := map[string]uint64{}
	for name, p := range coll.Programs {
		if of[name] {
			addProgram(sums, p)
		}
	}
	if total, ok := mapMemory(coll, of); ok {
		sums[bench.MapMemory.Name] = total
	}
	var samples []bench.Sample
	for _, m := range bench.MeasuresOf(bench.Static) {
		if sum, ok := sums[m.Name]; ok {
			samples = append(samples, bench.Sample{Measure: m, Values: []float64{float64(sum)}})
		}
	}
	return samples
}

// mapMemory returns what the kernel charges for the maps, 0 if there are none, and whether it
// reports that of each.
func mapMemory(coll *ebpf.Collection, of map[string]bool) (total uint64, ok bool) {
	for name, m := range coll.Maps {
		if !of[name] {
			continue
		}
		info, err := m.Info()
		if err != nil {
			return 0, false
		}
		bytes, ok := info.Memlock()
		if !ok {
			return 0, false
		}
		total += bytes
	}
	return total, true
}

func addProgram(sums map[string]uint64, p *ebpf.Program) {
	for m, n := range logFigures(p.VerifierLog) {
		sums[m.Name] += n
	}
	info, err := p.Info()
	if err != nil {
		return
	}
	if n, err := info.TranslatedSize(); err == nil {
		sums[bench.XlatedBytes.Name] += uint64(n)
	}
	if n, err := info.JitedSize(); err == nil {
		sums[bench.JitedBytes.Name] += uint64(n)
	}
}

var (
	statesLine = regexp.MustCompile(`(?m)^processed (\d+) insns .*\btotal_states (\d+) peak_states (\d+)`)
	stackLine  = regexp.MustCompile(`(?m)^stack depth ([\d+]+)`)
)

// logFigures reads figures that only the verifier's log has, given
// ebpf.LogLevelStats (Linux 5.2): see print_verification_stats of
// kernel/bpf/verifier.c. The stack depth is a sum with one term per function.
func logFigures(log string) map[bench.Measure]uint64 {
	figures := map[bench.Measure]uint64{}
	if m := statesLine.FindStringSubmatch(log); m != nil {
		figures[bench.VerifiedInsns] = number(m[1])
		figures[bench.VerifierStates] = number(m[2])
		figures[bench.VerifierPeakStates] = number(m[3])
	}
	if m := stackLine.FindStringSubmatch(log); m != nil {
		var sum uint64
		for depth := range strings.SplitSeq(m[1], "+") {
			sum += number(depth)
		}
		figures[bench.StackBytes] = sum
	}
	return figures
}

// number parses digits; it returns 0 for a number too large to be the kernel's.
func number(digits string) uint64 {
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0
	}
	return n
}
