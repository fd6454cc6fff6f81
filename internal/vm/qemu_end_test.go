package vm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hostEnv holds the image for a process that runs a VM until it is killed.
const hostEnv = "VM_TEST_HOST"

func runHost(image string) {
	cmd := &Cmd{Image: image, Path: os.Args[1], Args: []string{"sleep"}}
	cmd.OnResult = func(json.RawMessage) { fmt.Println("up") }
	fmt.Println(cmd.Run(context.Background()))
	os.Exit(1)
}

// qemusOf returns the QEMUs that a process has started.
func qemusOf(t testing.TB, pid int) (pids []int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(lists) == 0 {
		t.Fatalf("find the children of %d: %v", pid, err)
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may end
		for field := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(field)
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", child))
			if strings.HasPrefix(string(name), "qemu-system") {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

func TestCancellingEndsTheVM(t *testing.T) {
	cmd := newCmd(t, "6.1", "sleep")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd.OnResult = func(json.RawMessage) { cancel() }
	if err := cmd.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := qemusOf(t, os.Getpid()); len(left) > 0 {
		t.Errorf("QEMU %v is left", left)
	}
}

// Ctrl-C in a terminal reaches each process of the group.
func TestQEMUEndsWithTheProcessThatRanIt(t *testing.T) {
	cmd := newCmd(t, "6.1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := cmd.Path
	if binary == "" {
		binary = self
	}
	host := exec.Command(self, binary)
	host.Env = append(os.Environ(), hostEnv+"="+cmd.Image)
	host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	up := make([]byte, 3)
	if _, err := io.ReadFull(out, up); err != nil || !bytes.Equal(up, []byte("up\n")) {
		t.Fatalf("it said %q: %v", up, err)
	}
	qemus := qemusOf(t, host.Process.Pid)
	if len(qemus) != 1 {
		t.Fatalf("it runs %d QEMUs", len(qemus))
	}
	if err := unix.Kill(-host.Process.Pid, unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	host.Wait()
	for end := time.Now().Add(5 * time.Second); unix.Kill(qemus[0], 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("QEMU is still there")
		}
	}
}

// This machine's KVM either works or is refused.
func TestKVMWorksOrIsRefused(t *testing.T) {
	t.Parallel()
	cmd := newCmd(t, "6.12", "hello")
	cmd.Mode = KVM
	err := cmd.Run(t.Context())
	t.Logf("after %s: %v", cmd.Info.Elapsed, err)
	if err != nil && !errors.Is(err, ErrKVM) {
		t.Errorf("got %+v", err)
	}
}
