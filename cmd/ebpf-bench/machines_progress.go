package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/org/ebpf-bench-action/internal/ui"
)

// stage shows what a kernel is at: on a terminal a line with the time that it
// has taken so far, elsewhere nothing.
type stage struct {
	name  string
	line  *ui.Line
	began time.Time
	ended chan struct{}

	mu   sync.Mutex
	what string
}

func newStage(t *ui.Terminal, name string) *stage {
	s := &stage{name: name, line: t.Line(), began: time.Now(), ended: make(chan struct{})}
	if ui.IsTerminal(t.Stderr) {
		s.set("reading the kernel")
		go s.tick()
	}
	return s
}

// tick shows that time goes on where nothing else does.
func (s *stage) tick() {
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

// at shows what the tool is at in the guest.
func (s *stage) at(g guest) {
	what := "measuring"
	if g.at != nil {
		what = g.at()
	}
	s.set(what)
}

func (s *stage) set(what string) {
	s.mu.Lock()
	s.what = what
	s.mu.Unlock()
	s.show()
}

func (s *stage) show() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.Set(ui.Clean(fmt.Sprintf("kernel %s: %s (%d s)", s.name, s.what, int(time.Since(s.began).Seconds()))))
}

// end takes the line away.
func (s *stage) end() {
	close(s.ended)
	s.line.Remove()
}

// benchmarkOf names the benchmark that is under way after some of all.
func benchmarkOf(done int, all []string) string {
	if done >= len(all) {
		return "ending"
	}
	return fmt.Sprintf("benchmark %d of %d, %s", done+1, len(all), all[done])
}
