package action

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// Processes that a build leaves behind are not a failure, and a line that it leaves open
// does not swallow the next message.
func TestBuildThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	t.Cleanup(func() {
		text, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err != nil {
			t.Error(err)
			return
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Error(err)
			return
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("what was left behind: %v", err)
		}
	})
	var log bytes.Buffer
	w := escape.NewLogWriter(&log)
	s := &step{Options: logTo(w), in: &inputs{build: "sleep infinity & echo $! >pid; printf 'no end'"}, patience: 50 * time.Millisecond}
	ended := make(chan error, 1)
	go func() { ended <- s.buildIn(t.Context(), dir, "head", nil) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the step waits for what the build left behind")
	}
	if !strings.Contains(log.String(), "\nno end\nebpf-bench: built the head in ") {
		t.Errorf("%s", log.String())
	}
}
