package workload

import (
	"os"
	"strings"
	"testing"
)

const (
	statsSysctl = "kernel.bpf_stats_enabled"
	statsFile   = "/proc/sys/kernel/bpf_stats_enabled"
)

func readStats(t *testing.T) string {
	t.Helper()
	needFile(t, statsFile)
	text, err := os.ReadFile(statsFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// holdSysctl sets the sysctl to what it is not.
func holdSysctl() {
	must(GuardSysctl(statsSysctl, os.Getenv("EBPF_BENCH_TEST_VALUE")))
}

func other(value string) string {
	if value == "0" {
		return "1"
	}
	return "0"
}

func TestAGuardRestoresTheSysctl(t *testing.T) {
	needRoot(t)
	old := readStats(t)
	g, err := GuardSysctl(statsSysctl, other(old))
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
	needRoot(t)
	old := readStats(t)
	t.Setenv("EBPF_BENCH_TEST_VALUE", other(old))
	p := startTool(t, "sysctl")
	guard := descendants(t, p.Pid)
	if len(guard) != 1 {
		t.Fatalf("guarded by %v, want one process", guard)
	}
	if got := readStats(t); got != other(old) {
		t.Errorf("got %s while guarded, want %s", got, other(old))
	}
	p.Kill()
	waitUntil(t, "the old value", func() bool { return readStats(t) == old })
	waitEnded(t, guard)
}

func TestAGuardLeavesAloneWhatIsAsWanted(t *testing.T) {
	g, err := GuardSysctl(statsSysctl, readStats(t))
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
	_, err := GuardSysctl("kernel.no_such_sysctl", "1")
	wantError(t, err, "read sysctl kernel.no_such_sysctl")

	needRoot(t)
	old := readStats(t)
	_, err = GuardSysctl(statsSysctl, "2")
	wantError(t, err, "set sysctl "+statsSysctl)
	if got := readStats(t); got != old {
		t.Errorf("got %s afterwards, want %s", got, old)
	}
}
