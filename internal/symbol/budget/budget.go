// Package budget bounds what the files of strangers take of this process: its memory, and,
// because what is made of a file is counted as well as what is read of it, its time.
package budget

import "sync/atomic"

// Default is enough for the debug information of a browser, or of some hundred libraries, in
// bytes.
const Default = 2 << 30

// Budget is how many bytes files may still take. It is safe for concurrent use. A nil Budget
// has no end.
type Budget struct {
	left     atomic.Int64
	exceeded atomic.Bool
}

// New returns a budget of so many bytes.
func New(bytes int64) *Budget {
	b := new(Budget)
	b.left.Store(bytes)
	return b
}

// Take takes n bytes, if there are as many, and reports whether there were.
func (b *Budget) Take(n uint64) bool {
	if b == nil {
		return true
	}
	for left := b.left.Load(); n <= uint64(left); left = b.left.Load() {
		if b.left.CompareAndSwap(left, left-int64(n)) {
			return true
		}
	}
	b.exceeded.Store(true)
	return false
}

// Exceeded reports whether there was less than somebody wanted to take.
func (b *Budget) Exceeded() bool { return b != nil && b.exceeded.Load() }
