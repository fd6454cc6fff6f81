package workload

import (
	"bytes"
	"strings"
)

const (
	stderrLines = 5
	stderrBytes = 4096
)

// stderrTail keeps the last lines that are written to it.
type stderrTail struct{ buf []byte }

func (t *stderrTail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - stderrBytes; n > 0 {
		t.buf = append(t.buf[:0], t.buf[n:]...)
	}
	return len(p), nil
}

// String is the last lines in one.
func (t *stderrTail) String() string {
	lines := strings.Split(string(bytes.TrimSpace(t.buf)), "\n")
	return strings.Join(lines[max(0, len(lines)-stderrLines):], "; ")
}
