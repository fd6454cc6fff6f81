package guard

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"syscall"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// helper is a helper that waits for the end of the tool, or for end.
type helper struct {
	*exec.Cmd
	lifeline io.Closer
	stderr   bytes.Buffer
}

func newHelper(mode string, args ...string) *helper {
	h := &helper{Cmd: process.HelperCommand(mode, args...)}
	// A separate session keeps the terminal's signals from the helper.
	h.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	h.Stderr = &h.stderr
	return h
}

func (h *helper) start() (err error) {
	if h.lifeline, err = h.StdinPipe(); err != nil {
		return err
	}
	return h.Start()
}

// end makes the helper do its work, and waits until it is done.
func (h *helper) end() error {
	h.lifeline.Close()
	if err := h.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(h.stderr.Bytes()))
	}
	return nil
}
