package main

// Output rules: results go to stdout and nothing else does. Everything for
// the person who watches goes to stderr: progress, which on a terminal stands
// below all else and goes in the end, and "ebpf-bench: error:",
// "ebpf-bench: warning:" and "ebpf-bench: hint:" lines. Escape sequences go
// to terminals only.

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/exit"
)

// terminal is what the tool says and where.
type terminal struct {
	stdout, stderr io.Writer
	color          colorMode
	// live is what stands below the lines of stderr.
	live *live
}

func newTerminal(stdout, stderr io.Writer) *terminal {
	return &terminal{stdout: stdout, stderr: stderr, color: "auto", live: newLive(stderr)}
}

// isTerminal tells whether w is a terminal that a person looks at.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// colored tells whether escape sequences may go to w, by --color and the
// NO_COLOR convention (https://no-color.org).
func (t *terminal) colored(w io.Writer) bool {
	switch t.color {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && isTerminal(w)
}

func (t *terminal) say(kind, format string, args ...any) {
	t.live.say(t.stderr, fmt.Sprintf("ebpf-bench: %s%s\n", kind, clean(fmt.Sprintf(format, args...))))
}

// printError prints every error that err joins: each on a line, with its
// details and its hint.
func (t *terminal) printError(err error) {
	hinted := ""
	for _, e := range exit.Each(err) {
		t.say(labelOf(e), "%s", e)
		for _, line := range bench.Details(e) {
			fmt.Fprintf(t.stderr, "    %s\n", clean(strings.ReplaceAll(line, "\t", "  ")))
		}
		if hint := bench.Hint(e); hint != "" && hint != hinted {
			t.say("hint: ", "%s", hint)
			hinted = hint
		}
	}
}

func labelOf(err error) string {
	if exit.CodeOf(err) == exit.Regression {
		return "regression: "
	}
	return "error: "
}

// clean makes text from objects and files safe to print.
func clean(s string) string { return escape.Printable(s) }

// colorMode is the value of --color.
type colorMode string

func (c *colorMode) String() string { return string(*c) }
func (c *colorMode) Type() string   { return "when" }

func (c *colorMode) Set(s string) error {
	switch s {
	case "auto", "always", "never":
		*c = colorMode(s)
		return nil
	}
	return fmt.Errorf("it is auto, always or never")
}
