package symbol

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Process is what a process says in /proc, as proc(5) describes it.
type Process struct {
	PID int
	// Number is its PID in its own PID namespace.
	Number int
	// User is its real user ID.
	User uint32
}

// ReadProcess reads a process that runs.
func ReadProcess(pid int) (Process, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Process{}, fmt.Errorf("read process: %w", err)
	}
	return parseStatus(pid, string(text))
}

func parseStatus(pid int, text string) (Process, error) {
	p, known := Process{PID: pid, Number: pid}, false
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		switch key {
		case "NSpid":
			if n, err := strconv.Atoi(fields[len(fields)-1]); err == nil {
				p.Number = n
			}
		case "Uid":
			if n, err := strconv.ParseUint(fields[0], 10, 32); err == nil {
				p.User, known = uint32(n), true
			}
		}
	}
	if !known {
		return p, errors.New("read process: its status has no user ID")
	}
	return p, nil
}

// Root is the root folder of a process. It keeps its mount namespace, too: what is mounted below
// the folder would be gone when the last process has ended, and what is hidden by a mount would
// appear.
type Root struct{ folder, namespace *os.File }

// OpenRoot opens the root folder of the process. The garbage collector closes it.
func (p Process) OpenRoot() (*Root, error) {
	namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", p.PID))
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenFile(fmt.Sprintf("/proc/%d/root", p.PID), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, errors.Join(err, namespace.Close())
	}
	return &Root{folder, namespace}, nil
}

// Tree identifies a root folder in a mount namespace: paths lead processes that have the same
// to the same files.
type Tree struct{ namespace, device, inode uint64 }

// Tree returns that of the process.
func (p Process) Tree() (t Tree, err error) {
	var namespace, root unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/ns/mnt", p.PID), &namespace); err != nil {
		return t, fmt.Errorf("read the mount namespace of process %d: %w", p.PID, err)
	}
	if err := unix.Stat(fmt.Sprintf("/proc/%d/root", p.PID), &root); err != nil {
		return t, fmt.Errorf("read the root of process %d: %w", p.PID, err)
	}
	return Tree{namespace.Ino, root.Dev, root.Ino}, nil
}
