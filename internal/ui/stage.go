package ui

import (
	"fmt"
	"sync"
	"time"
)

// Stage shows what something is at: on a terminal a line with the time that it has
// taken so far, elsewhere nothing.
type Stage struct {
	name  string
	line  *Line
	began time.Time
	ended chan struct{}

	mu   sync.Mutex
	what string
}

// Stage begins to show what something of that name is at.
func (t *Terminal) Stage(name string) *Stage {
	s := &Stage{name: name, line: t.Line(), began: time.Now(), ended: make(chan struct{})}
	if IsTerminal(t.Stderr) {
		go s.tick()
	}
	return s
}

// tick shows that time goes on where nothing else does.
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

// Set says what it is at now.
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

// End takes the line away.
func (s *Stage) End() {
	close(s.ended)
	s.line.Remove()
}
