package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

const holdCgroupMode = "hold-cgroup"

func init() { process.RegisterHelper(holdCgroupMode, holdCgroup) }

// hierarchyFD is the folder in which to make a cgroup.
const hierarchyFD = 3

// holdCgroup makes a cgroup, reports that, and removes it once the tool has
// closed the other end of standard input, which ending does, too.
func holdCgroup(args []string) error {
	if len(args) != 1 {
		return errors.New("expected a name")
	}
	unix.CloseOnExec(hierarchyFD)
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGPIPE)
	if err := unix.Mkdirat(hierarchyFD, args[0], 0o755); err != nil {
		return err
	}
	_, written := os.Stdout.WriteString("\n")
	_, lived := io.Copy(io.Discard, os.Stdin)
	return errors.Join(written, lived, removeCgroup(hierarchyFD, args[0]))
}

// removeTime bounds how long the processes of a cgroup may take to end.
const removeTime = 5 * time.Second

// removeCgroup kills the processes of a cgroup and removes it once they have
// ended.
func removeCgroup(hierarchy int, name string) error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		err := unix.Unlinkat(hierarchy, name, unix.AT_REMOVEDIR)
		if !errors.Is(err, unix.EBUSY) || time.Since(began) > removeTime {
			return err
		}
		if err := killCgroup(hierarchy, name); err != nil {
			return err
		}
	}
}

func killCgroup(hierarchy int, name string) error {
	fd, err := unix.Openat(hierarchy, name+"/cgroup.procs", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("list what is in the cgroup: %w", err)
	}
	procs := os.NewFile(uintptr(fd), "cgroup.procs")
	defer procs.Close()
	text, err := io.ReadAll(procs)
	if err != nil {
		return fmt.Errorf("list what is in the cgroup: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		// A process of another PID namespace appears as 0, which would mean a
		// group.
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	return nil
}
