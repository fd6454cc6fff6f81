package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Stat holds fields of /proc/PID/stat.
type Stat struct {
	State         byte // a letter, such as T for a stopped process
	Parent, Group int
}

// List returns the processes for which a condition holds.
func List(is func(Stat) bool) ([]int, error) {
	all, err := numbers("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, pid := range all {
		stat, err := ReadStat(pid)
		switch {
		// It ended before or while it was read.
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		case err != nil:
			return nil, fmt.Errorf("list processes: %w", err)
		case is(stat):
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// ReadStat reads /proc/PID/stat.
func ReadStat(pid int) (Stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Stat{}, err
	}
	return parseStat(text)
}

// parseStat starts after the name, which may contain anything.
func parseStat(text []byte) (stat Stat, err error) {
	_, err = fmt.Fscanf(bytes.NewReader(text[bytes.LastIndexByte(text, ')')+1:]),
		" %c %d %d", &stat.State, &stat.Parent, &stat.Group)
	if err != nil {
		return Stat{}, fmt.Errorf("parse stat %q: %w", text, err)
	}
	return stat, nil
}

// Threads returns the threads of a process.
func Threads(pid int) ([]int, error) { return numbers(fmt.Sprintf("/proc/%d/task", pid)) }

// numbers returns the entries of a directory that are numbers.
func numbers(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var ns []int
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil {
			ns = append(ns, n)
		}
	}
	slices.Sort(ns)
	return ns, nil
}

// KillChildren kills and reaps this process's children until it has none that it may
// kill. Their own children become its children in turn.
func KillChildren() {
	for {
		children, _ := List(func(s Stat) bool { return s.Parent == os.Getpid() })
		options := unix.WNOHANG
		for _, pid := range children {
			if unix.Kill(pid, unix.SIGKILL) == nil {
				options = 0
			}
		}
		if len(children) > 0 && options != 0 {
			return
		}
		// Wait for one, and reap whatever else has ended by then: looking for
		// children again after each one would take forever.
		for ; ; options = unix.WNOHANG {
			pid, err := unix.Wait4(-1, nil, options, nil)
			if errors.Is(err, unix.ECHILD) {
				return
			}
			if pid == 0 {
				break
			}
		}
	}
}
