package ui_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// A log gets a line now and then, and none from what is quick.
func TestALogShowsThatSomethingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		term := ui.New(nil, &stderr)
		s, bar := term.Stage("kernel 6.12"), term.Bar(8, "comparing")
		s.Set("booting")
		time.Sleep(9 * time.Second)
		s.Set("benchmark 1 of 2, a")
		term.Say("something")
		time.Sleep(32 * time.Second)
		bar.Add(2)
		time.Sleep(3 * time.Minute)
		bar.Remove()
		s.End()
		want := "ebpf-bench: something\n"
		for _, at := range []int{10, 20, 40, 80, 140, 200} {
			want += fmt.Sprintf("ebpf-bench: kernel 6.12: benchmark 1 of 2, a (%d s)\nebpf-bench: comparing: %d%% (%d s)\n", at, map[bool]int{true: 25}[at > 40], at)
		}
		if got := sorted(stderr.String()); got != sorted(want) {
			t.Errorf("printed %q, want %q", got, want)
		}
	})
}

func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}
