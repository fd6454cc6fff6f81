// Package ui prints messages for the person who runs the tool. Only results go
// to stdout. Everything for the person who watches goes to stderr:
// "ebpf-bench: error:", "ebpf-bench: warning:" and "ebpf-bench: hint:" lines, and
// progress, which on a terminal stays below all else and disappears in the end,
// and of which a log gets a line now and then. Escape sequences go to terminals
// only.
package ui

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
)

// Terminal is the output of the tool.
type Terminal struct {
	Stdout, Stderr io.Writer
	// Color is auto, always or never.
	Color string
	// ExplainColumns says that tables come with what their columns mean.
	ExplainColumns bool
	// live is the block of progress lines below the lines of stderr.
	live *live
}

// New returns a Terminal for the two writers, whether they are terminals or
// not.
func New(stdout, stderr io.Writer) *Terminal {
	return &Terminal{Stdout: stdout, Stderr: stderr, Color: "auto", live: &live{w: stderr, terminal: IsTerminal(stderr)}}
}

// IsTerminal reports whether w is a terminal that a person looks at.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// Colored reports whether escape sequences may go to w, by --color and the
// NO_COLOR convention (https://no-color.org).
func (t *Terminal) Colored(w io.Writer) bool {
	switch t.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && IsTerminal(w)
}

// Say prints a line that stays.
func (t *Terminal) Say(format string, args ...any) {
	t.live.say("ebpf-bench: " + Clean(fmt.Sprintf(format, args...)) + "\n")
}

// Warn prints a warning.
func (t *Terminal) Warn(format string, args ...any) { t.Say("warning: "+format, args...) }

// Hint prints what the reader can do.
func (t *Terminal) Hint(format string, args ...any) { t.Say("hint: "+format, args...) }

// Tell prints notes, each with its hint.
func (t *Terminal) Tell(notes ...bench.Note) {
	for _, n := range notes {
		if n.Warn {
			t.Warn("%s", n.Text)
		} else {
			t.Say("%s", n.Text)
		}
		if n.Hint != "" {
			t.Hint("%s", n.Hint)
		}
	}
}

// Line adds a progress line below the messages. It is shown once it has a text,
// and only on a terminal.
func (t *Terminal) Line() *Line { return t.live.add() }

// PrintError prints every error that err joins, as report.Errors.
func (t *Terminal) PrintError(err error) { t.live.say(report.Errors(err)) }

// Clean makes text from objects and files safe to print.
func Clean(s string) string { return escape.Printable(s) }
