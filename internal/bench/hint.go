package bench

import (
	"errors"
	"fmt"
)

// hinted is an error that also says what to do about it.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// WithHint adds to err what the reader can do about it. The hint is not part of the
// error's text. It starts in lower case and ends without a period.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return &hinted{err, hint}
}

// Hint returns the outermost hint of err, or an empty string.
func Hint(err error) string {
	var h *hinted
	if errors.As(err, &h) {
		return h.hint
	}
	return ""
}

// detailed is an error with lines that help to understand it.
type detailed struct {
	error
	lines []string
}

func (d *detailed) Unwrap() error { return d.error }

// WithDetails adds to err lines that help to understand it, such as the end of a
// log. They are not part of the error's text.
func WithDetails(err error, lines []string) error {
	if err == nil || len(lines) == 0 {
		return err
	}
	return &detailed{err, lines}
}

// Details returns the outermost details of err, or nil.
func Details(err error) []string {
	var d *detailed
	if errors.As(err, &d) {
		return d.lines
	}
	return nil
}

// Note is a message for people beside results and errors.
type Note struct {
	Warn bool
	Text string
	Hint string // what to do about it
}

// Say returns an informational Note.
func Say(format string, args ...any) Note { return Note{Text: fmt.Sprintf(format, args...)} }

// Warn returns a Note about a possible problem.
func Warn(format string, args ...any) Note {
	return Note{Warn: true, Text: fmt.Sprintf(format, args...)}
}
