package action

import (
	"io"
	"os"
	"testing"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}

// logTo returns the options of a step whose log is w.
func logTo(w io.Writer) Options {
	return Options{Stdout: io.Discard, Stderr: w, Watch: cli.Watch{Terminal: ui.New(io.Discard, w)}}
}
