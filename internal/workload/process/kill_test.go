package process_test

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

func init() {
	process.RegisterHelper("lose-root", func([]string) error {
		for range 2 {
			sleep := exec.Command("sleep", "1000")
			if err := sleep.Start(); err != nil {
				return err
			}
			fmt.Println(sleep.Process.Pid)
			// The second one belongs to the same user as the helper, which it may kill.
			if err := syscall.Setuid(65534); err != nil {
				return err
			}
		}
		process.KillChildren()
		return nil
	})
}

func TestKillChildrenDoesNotWaitForThoseOfRoot(t *testing.T) {
	testenv.Root(t)
	out, err := process.HelperCommand("lose-root").Output()
	if err != nil {
		t.Fatal(err)
	}
	var rootsPID, ownPID int
	if _, err := fmt.Sscan(string(out), &rootsPID, &ownPID); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if err := unix.Kill(rootsPID, unix.SIGKILL); err != nil {
		t.Errorf("that of root: %v", err)
	}
	if err := unix.Kill(ownPID, unix.SIGKILL); err != unix.ESRCH {
		t.Errorf("its own: %v, want that it has ended", err)
	}
}
