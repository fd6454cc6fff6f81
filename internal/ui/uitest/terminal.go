// Package uitest provides terminals for tests.
package uitest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// OpenTerminal returns a terminal, and what a person would see on it.
func OpenTerminal(t *testing.T) (tty, screen *os.File) {
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

// ReadScreen returns what was written to the terminal.
func ReadScreen(t *testing.T, tty, screen *os.File) string {
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

// Shown returns the lines that an 80-column terminal shows after written,
// without lines that were cleared.
func Shown(written string) []string {
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
