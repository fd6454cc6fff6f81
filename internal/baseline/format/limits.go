package format

import (
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// No honest store comes near these sizes, and no hostile one fills the memory.
const (
	maxPoints     = 64 << 20 // bytes, the points of a run
	maxFiles      = 64 << 20 // bytes, the files of a suite together
	maxRun        = bench.MaxRunSize + maxPoints + 2*maxFiles + MaxMeta
	MaxObject     = 64 << 20
	MaxMeta       = 1 << 20
	maxTag        = 4 << 10
	maxBenchmarks = 100_000   // per run
	maxMeasures   = 1000      // per run
	MaxHistory    = 256 << 20 // bytes, a history
	maxTables     = 32 << 20  // bytes, the names that a history keeps while it is read
	MaxKept       = 1 << 30   // bytes, an export with its files still compressed
	MaxUnpacked   = 16 << 30  // bytes, an export unpacked
	MaxMembers    = 1_000_000 // files in an export
	maxRatio      = 1000      // of a file's content to its size
	MaxOuterRatio = 100       // of an export's content to its size: its files are compressed
	anyRatio      = 16 << 20  // bytes that may have any ratio
)

// Plausible reports whether packed bytes can honestly unpack to size bytes.
func Plausible(size, packed int64, ratio int64) bool {
	return size <= anyRatio || size/ratio <= packed
}

// ErrBomb says that the content of a file is implausibly many times its size.
var ErrBomb = errors.New("it becomes implausibly many times its size")

// TooLarge returns the error that size bytes are more than limit.
func TooLarge[T int64 | uint64](size T, limit int64) error {
	return fmt.Errorf("%d bytes are more than the %d MiB that are plausible", size, max(limit>>20, 1))
}
