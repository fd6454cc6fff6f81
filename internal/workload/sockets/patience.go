package sockets

import "time"

// patience is how long an answer is waited for that is perhaps never sent.
// Nothing tells that none is on its way: there is nothing to wait for but a
// thread of the kernel that is behindhand, on a busy machine for a tenth of a second.
// A program that drops messages must not make a round last for ever, so the very
// first that is missed is waited for longest, the few after it less, those after them
// for as long as answers take on this machine, and none once many in a row were missed.
type patience struct {
	missed, inARow int
	// slowest is how long an answer took at most.
	slowest time.Duration
}

const (
	longestWait            = 500 * time.Millisecond
	firstWait, firstMissed = 20 * time.Millisecond, 5
	laterWait, mostInARow  = time.Millisecond, 10
	// slower is how much longer than the slowest an answer may take.
	slower = 4
)

func (p *patience) time() time.Duration {
	switch {
	case p.missed == 0:
		return longestWait
	case p.inARow >= mostInARow:
		return 0
	case p.missed >= firstMissed:
		return min(max(slower*p.slowest, laterWait), firstWait)
	}
	return firstWait
}

// answered says whether there was an answer, and how long that took.
func (p *patience) answered(ok bool, took time.Duration) {
	if ok {
		p.inARow = 0
		p.slowest = max(p.slowest, took)
		return
	}
	p.missed++
	p.inARow++
}
