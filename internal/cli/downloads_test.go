package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/ui/uitest"
)

func TestDownloadsInAPipeAreALineEach(t *testing.T) {
	var stderr bytes.Buffer
	d := Watch{ui.New(nil, &stderr)}.Downloads()
	one, two := d.Start("linux-image-6.12", 98<<20), d.Start("registry/\x1b[31mlinux", 1<<20)
	one.Have(98 << 20)
	one.End()
	two.End()
	two.Have(1) // a download that was closed early may still read a little
	want := "ebpf-bench: downloading linux-image-6.12 (98.0 MiB)\nebpf-bench: downloading registry/"
	if got := stderr.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 2 || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
}

func TestDownloadsOnATerminalShareABar(t *testing.T) {
	tty, screen := uitest.OpenTerminal(t)
	d := &downloads{t: ui.New(nil, tty)}
	one := d.Start("linux-image-6.12", 100<<20)
	one.Have(50 << 20)
	two := d.Start("linux-image-7.3", 100<<20)
	time.Sleep(150 * time.Millisecond) // it is not drawn more often
	two.Have(50 << 20)                 // the server begins again
	two.Have(10 << 20)
	one.End()
	two.End()
	if d.bar != nil || d.have != 0 || d.size != 0 {
		t.Errorf("left is %d of %d bytes", d.have, d.size)
	}

	// A bar starts on a line of its own, which is cleared at the end.
	got := uitest.ReadScreen(t, tty, screen)
	for _, want := range []string{
		"ebpf-bench: downloading linux-image-6.12 (100 MiB)\r\n", "downloading  50% |",
		"\x1b[2K\rebpf-bench: downloading linux-image-7.3 (100 MiB)\r\n", "downloading  25% |",
	} {
		before, after, ok := strings.Cut(got, want)
		if !ok {
			t.Fatalf("no %q in %q", want, before)
		}
		got = after
	}
	if !strings.HasSuffix(strings.TrimRight(got, "\r"), "\x1b[2K") {
		t.Errorf("the last is %q", got)
	}
}
