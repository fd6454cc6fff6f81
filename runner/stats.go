package runner

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/guard"
)

// enableStats makes the kernel count the run time of every program until the
// Closer is closed or the process ends, however it ends. BPF_ENABLE_STATS is
// there since Linux 5.8; before, it is the sysctl that a guard puts back.
func enableStats() (io.Closer, error) {
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

// counters are a program's statistics at one moment.
type counters struct{ runTimeNS, runCnt, recursionMisses uint64 }

func readCounters(p *ebpf.Program) (counters, error) {
	s, err := p.Stats()
	if err != nil {
		return counters{}, fmt.Errorf("read statistics: %w", err)
	}
	return counters{uint64(s.Runtime), s.RunCount, s.RecursionMisses}, nil
}

func (c counters) since(before counters) counters {
	return counters{c.runTimeNS - before.runTimeNS, c.runCnt - before.runCnt, c.recursionMisses - before.recursionMisses}
}
