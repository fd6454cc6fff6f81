package ui

import (
	"fmt"
	"sync"
	"time"
)

// Stage shows the current stage of an activity: on a terminal, a line with the
// elapsed time; elsewhere, nothing.
type Stage struct {
	name  string
	line  *Line
	began time.Time
	ended chan struct{}

	mu   sync.Mutex
	what string
}

// Stage starts to show the stages of the named activity.
func (t *Terminal) Stage(name string) *Stage {
	s := &Stage{name: name, line: t.Line(), began: time.Now(), ended: make(chan struct{})}
	if IsTerminal(t.Stderr) {
		go s.tick()
	}
	return s
}

// tick updates the time even if nothing else happens.
func (s *Stage) tick() {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			s.show()
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

func (s *Stage) show() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.Set(Clean(fmt.Sprintf("%s: %s (%d s)", s.name, s.what, int(time.Since(s.began).Seconds()))))
}

// End removes the line.
func (s *Stage) End() {
	close(s.ended)
	s.line.Remove()
}
