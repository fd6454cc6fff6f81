package action

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/inplace"
)

// A build server that the head's build leaves running would go on with the head's files. It
// is no failure, and a line that it leaves open does not swallow the next message.
func TestBuildThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log bytes.Buffer
	s := &builder{planned{step: &step{Options: logTo(escape.NewLogWriter(&log)), in: &inputs{build: "setsid sh -c 'echo $$ > pid; sleep infinity' & until [ -s pid ]; do sleep 0.01; done; printf 'no end'"}}}}
	if err := s.buildIn(t.Context(), dir, "head", inplace.Command{}); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "\nno end\nebpf-bench: built the head in ") {
		t.Errorf("%s", log.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != syscall.ESRCH {
		t.Errorf("what was left behind: %v, want that it has ended", err)
	}
}
