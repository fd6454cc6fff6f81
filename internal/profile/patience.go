//go:build linux

package profile

import "time"

// patience is how long to wait for processes that keep those waiting who ask the kernel about
// them: one that faults in a page holds its list of mappings for as long as the server of the
// page takes, which can be the process itself.
type patience struct {
	left time.Duration
	gone map[uint32]bool // those that it ended for
}

const (
	// wholePatience is for all processes of a recording.
	wholePatience = 5 * time.Second
	// leastPatience is for each process, also when there is none left.
	leastPatience = 50 * time.Millisecond
)

func newPatience() *patience { return &patience{wholePatience, map[uint32]bool{}} }

// await calls ask, and returns what it does, unless it takes too long: then it is for late, some
// day. A process that took too long is not asked again.
func await[T any](p *patience, pid uint32, ask func() T, late func(T)) (answer T, ok bool) {
	if p.gone[pid] {
		return answer, false
	}
	answers, over := make(chan T), make(chan struct{})
	go func() {
		answer := ask()
		select {
		case answers <- answer:
		case <-over:
			late(answer)
		}
	}()
	begun := time.Now()
	timer := time.NewTimer(max(p.left, leastPatience))
	defer timer.Stop()
	select {
	case answer = <-answers:
		ok = true
	case <-timer.C:
		close(over)
		p.gone[pid] = true
	}
	if took := time.Since(begun); took > leastPatience {
		p.left = max(p.left-took, 0)
	}
	return answer, ok
}
