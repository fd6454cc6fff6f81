package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// haveEnableStats counts a run, because a counter that does not advance is
// worthless.
func haveEnableStats() error {
	stats, err := enableStats()
	if err != nil {
		return err
	}
	defer stats.Close()

	prog, err := load(ebpf.ProgramSpec{Type: ebpf.SchedCLS})
	if err != nil {
		return err
	}
	defer prog.Close()
	if err := testRun(prog, ebpf.RunOptions{}); err != nil {
		return err
	}
	return counted(prog)
}

func enableStats() (io.Closer, error) {
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return nil, lackingIf(fmt.Errorf("enable stats: %w", err), unix.EINVAL)
	}
	return stats, nil
}

// countRuns makes the kernel count until the Closer is closed, unless it counts
// anyway. It does not set the sysctl, which would stay set if the probe were
// killed.
func countRuns() (io.Closer, error) {
	stats, err := enableStats()
	if err == nil {
		return stats, nil
	}
	if v, readErr := os.ReadFile(statsSysctl); readErr == nil && strings.TrimSpace(string(v)) == "1" {
		return nothing{}, nil
	}
	return nil, err
}

var errNotCounted = errors.New("run_cnt is zero after a run")

// counted checks that the kernel has counted a run of prog.
func counted(prog *ebpf.Program) error {
	stats, err := prog.Stats()
	if err != nil {
		return err
	}
	if stats.RunCount == 0 {
		return errNotCounted
	}
	return nil
}

const statsSysctl = "/proc/sys/kernel/bpf_stats_enabled"

// haveStatsSysctl only opens the sysctl for writing: even writing its present
// value could undo what somebody else sets at the same time.
func haveStatsSysctl() error {
	f, err := os.OpenFile(statsSysctl, os.O_WRONLY, 0)
	if err != nil {
		return lackingIf(err, os.ErrNotExist, unix.EROFS)
	}
	return f.Close()
}

// haveInfo returns a check for a field of the information about a program.
func haveInfo(field string) func() error {
	return func() error {
		prog, err := load(ebpf.ProgramSpec{Type: ebpf.SocketFilter})
		if err != nil {
			return err
		}
		defer prog.Close()

		info, err := fdinfo(prog)
		if err != nil {
			return err
		}
		if _, ok := info[field]; !ok {
			return lacking("this kernel does not report %s of a program", field)
		}
		return nil
	}
}
