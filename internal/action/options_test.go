package action

import (
	"io"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// logTo returns the options of a step whose log is w.
func logTo(w io.Writer) Options {
	return Options{Stdout: io.Discard, Stderr: w, Watch: cli.Watch{Terminal: ui.New(io.Discard, w)}}
}
