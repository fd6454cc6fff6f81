package workload

import (
	"bytes"
	"strings"
)

const (
	stderrLines = 5
	stderrBytes = 4096
	// stderrText is how much of that an error says.
	stderrText = 1024
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
	text := strings.Join(lines[max(0, len(lines)-stderrLines):], "; ")
	return strings.ToValidUTF8(text[max(0, len(text)-stderrText):], "�")
}

// stderrHead keeps the first line that is written to it: why Go's runtime ends,
// before it says where.
type stderrHead struct{ buf []byte }

func (h *stderrHead) Write(p []byte) (int, error) {
	if n := stderrBytes - len(h.buf); n > 0 {
		h.buf = append(h.buf, p[:min(n, len(p))]...)
	}
	return len(p), nil
}

func (h *stderrHead) String() string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(h.buf), []byte("\n"))
	return string(line)
}
