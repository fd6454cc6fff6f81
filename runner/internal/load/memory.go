package load

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// checkMemory refuses maps that would take most of the free memory: trying to
// make them could start swapping, or make the kernel kill other processes.
func checkMemory(spec *ebpf.CollectionSpec) error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	var total, most uint64
	var largest *ebpf.MapSpec
	var name string
	for _, key := range slices.Sorted(maps.Keys(spec.Maps)) {
		m := spec.Maps[key]
		size := object.MapMemory(m, cpus)
		if m.InnerMap != nil {
			size = max(size, object.MapMemory(m.InnerMap, cpus))
		}
		if size > most || largest == nil {
			largest, name, most = m, key, size
		}
		if total += size; total < size {
			total = 1<<64 - 1
		}
	}
	if total < 1<<20 {
		return nil // not worth asking
	}
	free, err := freeMemory()
	if err != nil || total <= free/4*3 {
		return err
	}
	return bench.WithHint(&classed{classMemory, fmt.Errorf("map %s takes %s (%s), and %s of memory are free",
		name, unit.Bytes(float64(most)), describeMap(largest), unit.Bytes(float64(free)))},
		"give the map fewer max_entries, or run where there is more memory; in a virtual machine, by --vm-memory")
}

func describeMap(m *ebpf.MapSpec) string {
	if m.Type == ebpf.RingBuf || m.Type == ebpf.UserRingbuf {
		return fmt.Sprintf("%s of %s bytes", object.MapTypeName(m.Type), exact(m.MaxEntries))
	}
	return fmt.Sprintf("%s of %s entries of %s bytes", object.MapTypeName(m.Type), exact(m.MaxEntries), exact(m.KeySize)+"+"+exact(m.ValueSize))
}

func exact(n uint32) string { return unit.Exact(float64(n)) }

// freeMemory returns how many bytes can be used without swapping, given the
// machine and the process's control groups.
func freeMemory() (uint64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("read how much memory is free: %w", err)
	}
	_, after, found := strings.Cut(string(text), "MemAvailable:")
	fields := strings.Fields(after)
	if !found || len(fields) == 0 {
		return 0, errors.New("read how much memory is free: /proc/meminfo does not say")
	}
	kib, err := strconv.ParseUint(fields[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read how much memory is free: %w", err)
	}
	free := kib << 10
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for ok && group != "/" && group != "." {
			dir := filepath.Join("/sys/fs/cgroup", group)
			limit, unlimited := readNumber(filepath.Join(dir, "memory.max"))
			used, unknown := readNumber(filepath.Join(dir, "memory.current"))
			if unlimited == nil && unknown == nil {
				free = min(free, limit-min(used, limit))
			}
			group = filepath.Dir(group)
		}
	}
	return free, nil
}

func readNumber(file string) (uint64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}
