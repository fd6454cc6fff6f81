package runner

import "github.com/org/ebpf-bench-action/runner/internal/drive"

// usualLeast returns the least time that several of the rounds with this number
// of runs took. What a program makes the kernel do for a connection, such as
// allocating memory, is now and then cheaper by chance.
func usualLeast(rounds []drive.Counters, runs uint64) uint64 {
	var took []uint64
	for _, c := range rounds {
		if c.RunCnt == runs {
			took = append(took, c.RunTimeNS)
		}
	}
	return leastRepeated(took, min(pathRepeats, len(took)))
}
