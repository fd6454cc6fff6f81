package format

import (
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// No honest store comes near these sizes, and no hostile one fills the memory.
const (
	maxPoints     = 64 << 20 // bytes of the points of a run
	maxFiles      = 64 << 20 // bytes of the files of a suite together
	maxRun        = bench.MaxRunSize + maxPoints + 2*maxFiles + MaxMeta
	MaxObject     = 64 << 20
	MaxMeta       = 1 << 20
	maxTag        = 4 << 10
	maxBenchmarks = 100_000   // of a run
	maxMeasures   = 1000      // of a run
	MaxHistory    = 256 << 20 // bytes of a history
	maxTables     = 32 << 20  // bytes of names that a history keeps while it is read
	MaxKept       = 1 << 30   // bytes of an export, its files still compressed
	MaxUnpacked   = 16 << 30  // bytes of an export, unpacked
	MaxMembers    = 1_000_000 // files of an export
	maxRatio      = 1000      // of what a file holds to its size
	MaxOuterRatio = 100       // of an export to its size: its files are compressed
	anyRatio      = 16 << 20  // bytes that may have any ratio
)

// Plausible reports whether size bytes can honestly come of packed ones.
func Plausible(size, packed int64, ratio int64) bool {
	return size <= anyRatio || size/ratio <= packed
}

// ErrBomb says that what a file holds is implausibly many times its size.
var ErrBomb = errors.New("it becomes implausibly many times its size")

// TooLarge says that size bytes are more than limit.
func TooLarge[T int64 | uint64](size T, limit int64) error {
	return fmt.Errorf("%d bytes are more than the %d MiB that are plausible", size, max(limit>>20, 1))
}
