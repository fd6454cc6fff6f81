package sockets

import "time"

// patience is how long to wait for an answer that may never be sent. Nothing
// shows that none is on its way; it can only be held up by a late thread of the
// kernel, on a busy machine by a tenth of a second. A program that drops
// messages must not make a round last forever. So the wait is longest for the
// very first missing answer, shorter for the next few, after that as long as
// answers take on this machine, and zero once many in a row were missing.
type patience struct {
	missed, inARow int
	// slowest is the longest that an answer took.
	slowest time.Duration
}

const (
	longestWait            = 500 * time.Millisecond
	firstWait, firstMissed = 20 * time.Millisecond, 5
	laterWait, mostInARow  = time.Millisecond, 10
	// slower is how many times longer than the slowest an answer may take.
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

// answered records whether there was an answer, and how long that took.
func (p *patience) answered(ok bool, took time.Duration) {
	if ok {
		p.inARow = 0
		p.slowest = max(p.slowest, took)
		return
	}
	p.missed++
	p.inARow++
}
