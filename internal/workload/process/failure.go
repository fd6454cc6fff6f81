package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	stderrLines = 5
	stderrBytes = 4096
	// stderrText is how much of that an error includes.
	stderrText = 1024
)

// StderrTail keeps the last lines that are written to it.
type StderrTail struct{ buf []byte }

// Write appends p and keeps only the end.
func (t *StderrTail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - stderrBytes; n > 0 {
		t.buf = append(t.buf[:0], t.buf[n:]...)
	}
	return len(p), nil
}

// String returns the last lines as one.
func (t *StderrTail) String() string {
	lines := strings.Split(string(bytes.TrimSpace(t.buf)), "\n")
	text := strings.Join(lines[max(0, len(lines)-stderrLines):], "; ")
	return strings.ToValidUTF8(text[max(0, len(text)-stderrText):], "�")
}

// NotStarted says why the kernel did not start the file of a command.
func NotStarted(path string, err error) error {
	_, missing := os.Stat(path)
	switch {
	case errors.Is(err, unix.ENOENT) && missing == nil:
		return fmt.Errorf("what its #! line names, or its loader of libraries, is missing: %w", unix.ENOENT)
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("it is not a program of this machine, and no script that begins with #!: %w", unix.ENOEXEC)
	}
	return err
}
