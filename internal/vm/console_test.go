package vm

import (
	"fmt"
	"strings"
	"testing"
)

func TestAConsoleKeepsTheLastThatItPrinted(t *testing.T) {
	var c console
	for i := range 100_000 {
		c.add(fmt.Appendf(nil, "[    0.%06d] a line that is of no interest\n", i))
	}
	c.add([]byte("[    9.000000] Kernel panic - not syncing: the end\n"))
	if len(c.text) > 2*maxConsole {
		t.Errorf("it keeps %d bytes", len(c.text))
	}
	if r := c.report(); r.panic != "the end" {
		t.Errorf("it tells of panic %q", r.panic)
	}
}

func TestAWarningIsNoReason(t *testing.T) {
	c := console{[]byte(`[    0.1] WARNING: CPU: 0 PID: 1 at kernel/bpf/core.c:1
[    0.1] RIP: 0010:harmless+0x1/0x2
[    0.1] Call Trace:
[    0.1]  harmless_caller+0x1/0x2
[    0.2] <6>[    0.2] something else
[    0.3] Kernel panic - not syncing: No working init found.
[    0.3] Call Trace:
[    0.3]  dump_stack+0x1/0x2
[    0.3]  kernel_init+0x3/0x4
`)}
	r := c.report()
	got := strings.Join(r.trace(), "\n")
	want := "Kernel panic - not syncing: No working init found.\nCall Trace:\n  kernel_init+0x3/0x4"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The guest may be in an interrupt when it is asked: the interrupt ends, but
// the program below it does not.
func TestAnInterruptedProgramIsWhatHangs(t *testing.T) {
	const panicked = "[ 1.2] Kernel panic - not syncing: NMI: Not continuing\n[ 1.2] RIP: 0010:timerqueue_del+0x1a/0x50\n"
	const program = "[ 1.2] Call Trace:\n[ 1.2]  hrtimer_interrupt+0xfa/0x210\n[ 1.2]  bpf_prog_6566443e59a1ade2_lock_up+0x65/0x87\n"
	for text, want := range map[string]string{
		panicked + program: "bpf_prog_6566443e59a1ade2_lock_up",
		panicked:           "timerqueue_del",
		"":                 "",
	} {
		r := (&console{[]byte(text)}).report()
		if got := r.at(); got != want {
			t.Errorf("%q: it is in %q, want %q", text, got, want)
		}
	}
}

func FuzzConsole(f *testing.F) {
	f.Add([]byte("[ 1.2] BUG: x\r\n[ 1.2][ T1] RIP: 0010:f+0x1/0x2 [m]\r\nCall Trace:\n <NMI>\n a+0x1/0x2\n </NMI>\n b+0x1/0x2\n"))
	f.Add([]byte("Kernel panic - not syncing: System is deadlocked on memory\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := (&console{text}).report()
		if len(r.calls) > maxCalls {
			t.Errorf("%d calls", len(r.calls))
		}
		for _, line := range r.trace() {
			if strings.Contains(line, "\n") {
				t.Errorf("%q is more than a line", line)
			}
		}
		err := (&outcome{report: r}).verdict()
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("verdict %q", err)
		}
	})
}
