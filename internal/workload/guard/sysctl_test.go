package guard

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

const (
	statsSysctl = "kernel.bpf_stats_enabled"
	statsFile   = "/proc/sys/kernel/bpf_stats_enabled"
)

func readStats(t *testing.T) string {
	t.Helper()
	workloadtest.NeedFile(t, statsFile)
	text, err := os.ReadFile(statsFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// holdSysctl sets the sysctl to another value.
func holdSysctl() {
	workloadtest.Must(Sysctl(statsSysctl, os.Getenv("EBPF_BENCH_TEST_VALUE")))
}

func other(value string) string {
	if value == "0" {
		return "1"
	}
	return "0"
}

func TestAGuardRestoresTheSysctl(t *testing.T) {
	testenv.Root(t)
	old := readStats(t)
	g, err := Sysctl(statsSysctl, other(old))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if got := readStats(t); got != other(old) {
		t.Errorf("got %s while guarded, want %s", got, other(old))
	}
	for range 2 {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if got := readStats(t); got != old {
			t.Fatalf("got %s afterwards, want %s", got, old)
		}
	}
}

func TestAGuardRestoresTheSysctlAfterAKill(t *testing.T) {
	testenv.Root(t)
	old := readStats(t)
	t.Setenv("EBPF_BENCH_TEST_VALUE", other(old))
	p := workloadtest.StartTool(t, "sysctl")
	guard := workloadtest.Descendants(t, p.Pid)
	if len(guard) != 1 {
		t.Fatalf("guarded by %v, want one process", guard)
	}
	if got := readStats(t); got != other(old) {
		t.Errorf("got %s while guarded, want %s", got, other(old))
	}
	// What ends a job may tell all of its processes to end.
	const all = 1<<(unix.SIGHUP-1) | 1<<(unix.SIGINT-1) | 1<<(unix.SIGTERM-1)
	workloadtest.WaitUntil(t, "the helper to ignore them", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", guard[0]))
		if err != nil {
			t.Fatal(err)
		}
		_, ignored, _ := strings.Cut(string(status), "SigIgn:\t")
		ignored, _, _ = strings.Cut(ignored, "\n")
		mask, err := strconv.ParseUint(ignored, 16, 64)
		return err == nil && mask&all == all
	})
	p.Kill()
	workloadtest.WaitUntil(t, "the old value", func() bool { return readStats(t) == old })
	workloadtest.WaitEnded(t, guard)
}

func TestShortGracePeriods(t *testing.T) {
	testenv.Root(t)
	g, err := ShortGracePeriods()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

func TestAGuardLeavesAloneWhatIsAsWanted(t *testing.T) {
	g, err := Sysctl(statsSysctl, readStats(t))
	if err != nil {
		t.Fatal(err)
	}
	if g.helper != nil {
		t.Error("started a helper")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

func TestAGuardOfWhatCannotBeSet(t *testing.T) {
	_, err := Sysctl("kernel.no_such_sysctl", "1")
	workloadtest.WantError(t, err, "sysctl kernel.no_such_sysctl: read: ")

	testenv.Root(t)
	old := readStats(t)
	_, err = Sysctl(statsSysctl, "2")
	workloadtest.WantError(t, err, "sysctl "+statsSysctl+": set: ")
	if got := readStats(t); got != old {
		t.Errorf("got %s afterwards, want %s", got, old)
	}
}
