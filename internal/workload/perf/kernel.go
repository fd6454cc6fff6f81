package perf

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Files with the kernel's limits and features.
const (
	maxSampleRateFile = "/proc/sys/kernel/perf_event_max_sample_rate"
	paranoidFile      = "/proc/sys/kernel/perf_event_paranoid"
	onlineCPUsFile    = "/sys/devices/system/cpu/online"
)

// checkFrequency refuses frequencies that the kernel would refuse with a mere
// EINVAL. The kernel lowers its limit by itself when sampling takes too long.
func checkFrequency(frequency uint64) error {
	text, err := os.ReadFile(maxSampleRateFile)
	if err != nil {
		return nil // then the kernel decides
	}
	limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return fmt.Errorf("parse %s: %w", maxSampleRateFile, err)
	}
	if frequency > limit {
		return bench.WithHint(
			fmt.Errorf("frequency %d is more than the %d that kernel.perf_event_max_sample_rate allows", frequency, limit),
			"lower the frequency, or raise the limit with sysctl")
	}
	return nil
}

// explainPerfEvent adds the meaning of an error of perf_event_open.
func explainPerfEvent(attr *unix.PerfEventAttr, err error) error {
	missing := errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV)
	switch {
	case missing && attr.Type == unix.PERF_TYPE_HARDWARE:
		return bench.WithHint(
			fmt.Errorf("this machine has no hardware counters for it: %w", err),
			"virtual machines rarely have hardware counters: take cpu-clock, or a machine of your own")
	case missing:
		return fmt.Errorf("this kernel does not have it: %w", err)
	case errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM):
		return bench.WithHint(
			fmt.Errorf("kernel.perf_event_paranoid is %s: %w", paranoid(), err),
			"run as root or with CAP_PERFMON, or lower kernel.perf_event_paranoid with sysctl")
	}
	return err
}

func paranoid() string {
	text, err := os.ReadFile(paranoidFile)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile(onlineCPUsFile)
	if err != nil {
		return nil, fmt.Errorf("list online CPUs: %w", err)
	}
	cpus, err := parseCPUs(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("list online CPUs: %w", err)
	}
	return cpus, nil
}

// parseCPUs parses a list such as 0-2,4.
func parseCPUs(list string) ([]int, error) {
	var cpus []int
	for item := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(item, "-")
		if !isRange {
			last = first
		}
		lo, errLo := strconv.Atoi(first)
		hi, errHi := strconv.Atoi(last)
		if err := errors.Join(errLo, errHi); err != nil {
			return nil, fmt.Errorf("parse %q: %w", list, err)
		}
		for cpu := lo; cpu <= hi; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
