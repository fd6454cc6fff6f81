package escape

import (
	"bytes"
	"io"
)

// LogWriter writes a program's output to the log of a job so that no line of it is a
// command to the runner. It buffers text until the end of the line.
type LogWriter struct {
	w       io.Writer
	pending []byte
}

// maxLogLine is how long a line can get before it is written in pieces. Each piece starts
// on a line of its own.
const maxLogLine = 64 << 10

// NewLogWriter returns a LogWriter that writes to w.
func NewLogWriter(w io.Writer) *LogWriter { return &LogWriter{w: w} }

// Write implements io.Writer.
func (l *LogWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		room := maxLogLine - len(l.pending)
		if len(line) > room {
			line, rest, whole = p[:room], p[room:], true
		}
		l.pending = append(l.pending, line...)
		p = rest
		if whole {
			if err := l.line(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// Close writes the buffered text. It does not close the underlying writer.
func (l *LogWriter) Close() error {
	if len(l.pending) == 0 {
		return nil
	}
	return l.line()
}

func (l *LogWriter) line() error {
	text := LogText(string(l.pending)) + "\n"
	l.pending = l.pending[:0]
	_, err := io.WriteString(l.w, text)
	return err
}
