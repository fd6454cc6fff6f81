package driver

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/guard"
)

// EnableStats makes the kernel count the run time of every program until the
// Closer is closed or the process ends, however it ends. It uses
// BPF_ENABLE_STATS, new in Linux 5.8; on older kernels, it sets the sysctl,
// which a guard restores.
func EnableStats() (io.Closer, error) {
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err == nil {
		return stats, nil
	}
	if !errors.Is(err, ebpf.ErrNotSupported) && !errors.Is(err, unix.EINVAL) {
		return nil, bench.WithHint(fmt.Errorf("enable BPF statistics: %w", err), "it takes CAP_SYS_ADMIN")
	}
	held, err := guard.Sysctl("kernel.bpf_stats_enabled", "1")
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("enable BPF statistics: %w", err), "the kernel counts run time since Linux 5.1")
	}
	return held, nil
}

// Counters are a program's statistics at one moment.
type Counters struct{ RunTimeNS, RunCnt, RecursionMisses uint64 }

// ReadCounters reads the statistics of a program.
func ReadCounters(p *ebpf.Program) (Counters, error) {
	s, err := p.Stats()
	if err != nil {
		return Counters{}, fmt.Errorf("read statistics: %w", err)
	}
	return Counters{uint64(s.Runtime), s.RunCount, s.RecursionMisses}, nil
}

// Since returns what was added to the statistics since an earlier moment.
func (c Counters) Since(before Counters) Counters {
	return Counters{c.RunTimeNS - before.RunTimeNS, c.RunCnt - before.RunCnt, c.RecursionMisses - before.RecursionMisses}
}

// PerRun returns the mean time of a run, in nanoseconds.
func (c Counters) PerRun() float64 { return float64(c.RunTimeNS) / float64(c.RunCnt) }
