package doctorcmd

import (
	"io"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/ui/uitest"
)

func TestTheDoctorFitsTheTerminal(t *testing.T) {
	tty, screen := uitest.OpenTerminal(t)
	k := &examined{release: "6.12", mode: bench.ModeExact, findings: []probe.Finding{
		{Probe: probe.Probe{Name: "tc", For: strings.Repeat("many words ", 9), Cost: strings.Repeat("a lot ", 20)}, Answer: probe.No},
		{Probe: probe.Probe{Name: "jit", For: "machine code"}, Answer: probe.Unknown, Reason: probe.NeedsRoot},
		{Probe: probe.Probe{Name: "btf", For: "relocations"}, Answer: probe.Unknown, Reason: probe.NeedsRoot},
	}}
	if err := printFindings(ui.New(tty, io.Discard), k); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(uitest.ReadScreen(t, tty, screen), "\r\n")
	for _, line := range lines {
		if n := text.StringWidthWithoutEscSequences(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	got := strings.Join(lines, "\n")
	if !strings.HasPrefix(got, "Linux 6.12 · exact") || strings.Count(got, "root gets") != 1 || strings.Contains(got, "why") {
		t.Errorf("printed\n%s", got)
	}
}
