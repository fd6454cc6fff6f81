package github

import (
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// Level is how loud an annotation is.
type Level string

// The levels.
const (
	Notice  Level = "notice"
	Warning Level = "warning"
	Failure Level = "failure"
)

// known is a level that GitHub knows.
func (l Level) known() Level {
	switch l {
	case Failure, Warning:
		return l
	}
	return Notice
}

// command is what the runner calls a level.
func (l Level) command() string {
	if l == Failure {
		return "error"
	}
	return string(l.known())
}

// Annotation is what is said of a source line, or of the whole run. All text
// in it may come from strangers.
type Annotation struct {
	Level Level
	// Path is the file, relative to the repository, as compiled into the
	// object. Empty, or leading out of the repository, it is none.
	Path string
	// Line and EndLine count from 1, and are 0 where they are not known.
	Line, EndLine int
	Title         string
	Message       string
}

// Annotate writes annotations as workflow commands to the log of a job. The
// runner shows ten of each level a step, and 50 a job.
func Annotate(w io.Writer, annotations []Annotation) error {
	var b strings.Builder
	for _, a := range annotations {
		b.WriteString(command(a.Level.command(), a.Message, a.properties()) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *Annotation) properties() map[string]string {
	p := map[string]string{"title": escape.Clip(a.Title, maxTitle)}
	file, ok := repoPath(a.Path)
	if !ok {
		return p
	}
	p["file"] = file
	if first, last := a.lines(); first > 0 {
		p["line"], p["endLine"] = strconv.Itoa(first), strconv.Itoa(last)
	}
	return p
}

// lines are the first and the last line, in this order.
func (a *Annotation) lines() (first, last int) {
	first = max(a.Line, 0)
	return first, max(a.EndLine, first)
}

// repoPath is a path inside of the repository in its shortest form.
func repoPath(name string) (string, bool) {
	const maxPath = 1024
	clean := path.Clean(name)
	ok := name != "" && len(name) <= maxPath && clean != "." && !path.IsAbs(clean) &&
		clean != ".." && !strings.HasPrefix(clean, "../") && escape.Printable(clean) == clean
	return clean, ok
}
