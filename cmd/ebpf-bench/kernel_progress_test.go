package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/ui"
)

func TestDownloadsInAPipeAreALineEach(t *testing.T) {
	var stderr bytes.Buffer
	d := newDownloads(ui.New(nil, &stderr))
	one, two := d.Start("linux-image-6.12", 98<<20), d.Start("registry/\x1b[31mlinux", 1<<20)
	one.Have(98 << 20)
	one.End()
	two.End()
	two.Have(1) // what is closed early may still read a little
	want := "ebpf-bench: downloading linux-image-6.12 (98.0 MiB)\nebpf-bench: downloading registry/"
	if got := stderr.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 2 || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
}

// openTerminal is a terminal, and what a person would see on it.
func openTerminal(t *testing.T) (tty, screen *os.File) {
	t.Helper()
	t.Setenv("TERM", "xterm")
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return tty, screen
}

// readScreen is what was written to the terminal.
func readScreen(t *testing.T, tty, screen *os.File) string {
	t.Helper()
	const end = "the end"
	fmt.Fprint(tty, end)
	var seen []byte
	for chunk := make([]byte, 4096); !bytes.HasSuffix(seen, []byte(end)); {
		n, err := screen.Read(chunk)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, chunk[:n]...)
	}
	return string(bytes.TrimSuffix(seen, []byte(end)))
}

func TestDownloadsOnATerminalShareABar(t *testing.T) {
	tty, screen := openTerminal(t)
	d := newDownloads(ui.New(nil, tty))
	one := d.Start("linux-image-6.12", 100<<20)
	one.Have(50 << 20)
	two := d.Start("linux-image-7.3", 100<<20)
	time.Sleep(150 * time.Millisecond) // it is drawn no more often
	two.Have(50 << 20)                 // and the server begins again
	two.Have(10 << 20)
	one.End()
	two.End()
	if d.bar != nil || d.have != 0 || d.size != 0 {
		t.Errorf("left is %d of %d bytes", d.have, d.size)
	}

	// A bar begins a line of its own, which is cleared in the end.
	got := readScreen(t, tty, screen)
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
