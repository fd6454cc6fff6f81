package ui

import (
	"fmt"
	"sync"
	"time"
)

// Stage shows the current stage of an activity and the time since its start: on a
// terminal, a line that changes; elsewhere a line that stays, now and then, so that whoever
// reads a log sees that something happens.
type Stage struct {
	t     *Terminal
	name  string
	line  *Line
	began time.Time
	ended chan struct{}

	mu   sync.Mutex
	what string
}

// Stage starts to show the stages of the named activity.
func (t *Terminal) Stage(name string) *Stage {
	s := &Stage{t: t, name: name, line: t.Line(), began: time.Now(), ended: make(chan struct{})}
	if IsTerminal(t.Stderr) {
		go s.every(func(time.Duration) time.Duration { return time.Second }, s.show)
	} else {
		go s.every(untilNextLine, func() { s.t.Say("%s", s) })
	}
	return s
}

// untilNextLine returns how long a log waits for the next line of an activity that has taken
// this long: 10 s, 20 s and 40 s after its start there is one, and then each minute.
func untilNextLine(taken time.Duration) time.Duration {
	return min(max(taken, 10*time.Second), time.Minute)
}

// every calls show until the stage ends.
func (s *Stage) every(wait func(taken time.Duration) time.Duration, show func()) {
	for {
		select {
		case <-time.After(wait(time.Since(s.began).Round(time.Second))):
			show()
		case <-s.ended:
			return
		}
	}
}

// Set sets the current stage.
func (s *Stage) Set(what string) {
	s.mu.Lock()
	s.what = what
	s.mu.Unlock()
	s.show()
}

func (s *Stage) show() { s.line.Set(Clean(s.String())) }

func (s *Stage) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s: %s (%d s)", s.name, s.what, int(time.Since(s.began).Seconds()))
}

// End removes the line.
func (s *Stage) End() {
	close(s.ended)
	s.line.Remove()
}
