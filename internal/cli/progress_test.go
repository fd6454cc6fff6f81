package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/ui/uitest"
)

func TestABarIsBelowWhatIsSaid(t *testing.T) {
	tty, screen := uitest.OpenTerminal(t)
	term := ui.New(nil, tty)
	bar := Watch{term}.Run(2)
	bar.Start(10, time.Second)
	bar.Round()
	term.Say("something")
	lines := uitest.Shown(uitest.ReadScreen(t, tty, screen))
	if len(lines) != 2 || lines[0] != "ebpf-bench: something" || !strings.HasPrefix(lines[1], "measuring 2 benchmarks") {
		t.Errorf("shows %q", lines)
	}
	bar.Done()
}
