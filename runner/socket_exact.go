package runner

import "github.com/org/ebpf-bench-action/runner/internal/drive"

// usualLeast is the least that a few of the rounds with so many runs took: what
// a program has the kernel do for a connection, such as to allocate memory, is
// now and then done cheaper by chance.
func usualLeast(rounds []drive.Counters, runs uint64) uint64 {
	var took []uint64
	for _, c := range rounds {
		if c.RunCnt == runs {
			took = append(took, c.RunTimeNS)
		}
	}
	return leastAlike(took, min(pathAlike, len(took)))
}
