package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/ui/uitest"
	"github.com/org/ebpf-bench-action/runner"
)

// shown is what a terminal of 80 columns shows of what was written to it: just
// the lines, without those that were cleared.
func shown(written string) []string {
	lines := []string{""}
	at := 0
	for written != "" {
		switch {
		case strings.HasPrefix(written, "\x1b[2K"):
			written, lines[at] = written[4:], ""
		case strings.HasPrefix(written, "\x1b[1A"):
			written, at = written[4:], at-1
		case strings.HasPrefix(written, "\r\n"):
			written = written[2:]
			if at++; at == len(lines) {
				lines = append(lines, "")
			}
		case strings.HasPrefix(written, "\r"):
			written = written[1:]
		default:
			end := 1 + strings.IndexAny(written[1:]+"\r", "\r\x1b")
			lines[at] += written[:end]
			written = written[end:]
		}
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestWhatIsSaidStandsAboveWhatIsUnderWay(t *testing.T) {
	tty, screen := uitest.OpenTerminal(t)
	term := ui.New(nil, tty)
	one, two := term.Stage("kernel 6.12"), term.Stage("kernel 5.10")
	one.Set("booting")
	two.Set(strings.Repeat("x", 100))
	term.Warn("something")
	one.Set("benchmark 1 of 2, a")
	got := uitest.ReadScreen(t, tty, screen)
	want := []string{
		"ebpf-bench: warning: something",
		"kernel 6.12: benchmark 1 of 2, a (0 s)",
		"kernel 5.10: " + strings.Repeat("x", 65) + "…",
	}
	if lines := shown(got); strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("shows %q, want %q", lines, want)
	}
	one.End()
	two.End()
	got += uitest.ReadScreen(t, tty, screen)
	if lines := shown(got); len(lines) != 1 {
		t.Errorf("left is %q", lines)
	}
}

func TestABarIsBelowWhatIsSaid(t *testing.T) {
	tty, screen := uitest.OpenTerminal(t)
	term := ui.New(nil, tty)
	bar := newProgress(term, &runner.Plan{Jobs: make([]*runner.Job, 2)})
	bar.Start(10, time.Second)
	bar.Round()
	term.Say("something")
	lines := shown(uitest.ReadScreen(t, tty, screen))
	if len(lines) != 2 || lines[0] != "ebpf-bench: something" || !strings.HasPrefix(lines[1], "measuring 2 benchmarks") {
		t.Errorf("shows %q", lines)
	}
	bar.Done(nil)
}

// In a pipe there is nothing but what is said.
func TestNothingIsUnderWayInAPipe(t *testing.T) {
	var stderr bytes.Buffer
	term := ui.New(nil, &stderr)
	s := term.Stage("kernel 6.12")
	s.Set("booting")
	term.Say("something")
	s.End()
	if got := stderr.String(); got != "ebpf-bench: something\n" {
		t.Errorf("printed %q", got)
	}
}
