package workload

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

// PIDs are the processes of the load at this moment.
func (l *Load) PIDs() ([]int, error) {
	if l.existing != nil {
		return []int{l.existing.Pid}, nil
	}
	return processes(func(s procStat) bool { return s.group == l.group && s.state != 'Z' })
}

// TIDs are the threads of the load's processes at this moment.
func (l *Load) TIDs() ([]int, error) {
	pids, err := l.PIDs()
	if err != nil {
		return nil, err
	}
	var tids []int
	for _, pid := range pids {
		threads, err := numbers(fmt.Sprintf("/proc/%d/task", pid))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list threads of load: %w", err)
		}
		tids = append(tids, threads...)
	}
	return tids, nil
}

// procStat is what /proc/PID/stat says of a process.
type procStat struct {
	state         byte
	parent, group int
}

// processes are the processes that a condition holds for.
func processes(is func(procStat) bool) ([]int, error) {
	all, err := numbers("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, pid := range all {
		stat, err := readProcStat(pid)
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

func readProcStat(pid int) (procStat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseProcStat(text)
}

// parseProcStat begins behind the name, which may hold anything.
func parseProcStat(text []byte) (stat procStat, err error) {
	_, err = fmt.Fscanf(bytes.NewReader(text[bytes.LastIndexByte(text, ')')+1:]),
		" %c %d %d", &stat.state, &stat.parent, &stat.group)
	if err != nil {
		return procStat{}, fmt.Errorf("parse stat %q: %w", text, err)
	}
	return stat, nil
}

// numbers are the entries of a directory that are numbers.
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
