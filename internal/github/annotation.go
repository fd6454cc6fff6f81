package github

import (
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// Level is the severity of an annotation.
type Level string

// The levels of annotations.
const (
	Notice  Level = "notice"
	Warning Level = "warning"
	Failure Level = "failure"
)

// known returns the level, or Notice if GitHub does not know it.
func (l Level) known() Level {
	switch l {
	case Failure, Warning:
		return l
	}
	return Notice
}

// command returns the runner's name of a level.
func (l Level) command() string {
	if l == Failure {
		return "error"
	}
	return string(l.known())
}

// Annotation is a message about a source line, or about the whole run. All text in it may
// come from strangers.
type Annotation struct {
	Level Level
	// Path is the file, relative to the repository, as compiled into the object. A path
	// that is empty or leads out of the repository is ignored.
	Path string
	// Line and EndLine count from 1, and are 0 if unknown.
	Line, EndLine int
	Title         string
	Message       string
}

// Annotate writes annotations as workflow commands to the log of a job. The runner shows
// ten of each level per step, and 50 per job.
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

// lines returns the first and the last line, in this order.
func (a *Annotation) lines() (first, last int) {
	first = max(a.Line, 0)
	return first, max(a.EndLine, first)
}

// repoPath returns the shortest form of a path, and whether it is inside the repository.
func repoPath(name string) (string, bool) {
	const maxPath = 1024
	clean := path.Clean(name)
	ok := name != "" && len(name) <= maxPath && clean != "." && !path.IsAbs(clean) &&
		clean != ".." && !strings.HasPrefix(clean, "../") && escape.Printable(clean) == clean
	return clean, ok
}
