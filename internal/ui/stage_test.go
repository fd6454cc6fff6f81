package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/ui/uitest"
)

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
	if lines := uitest.Shown(got); strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("shows %q, want %q", lines, want)
	}
	one.End()
	two.End()
	got += uitest.ReadScreen(t, tty, screen)
	if lines := uitest.Shown(got); len(lines) != 1 {
		t.Errorf("left is %q", lines)
	}
}

// A pipe gets only messages.
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
