package workload

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// testToolEnv makes the test binary play the tool, as one of testTools, until
// it is killed.
const testToolEnv = "EBPF_BENCH_TEST_TOOL"

var testTools = map[string]func(){
	"command": holdCommandLoad,
	"spin":    holdSpinLoad,
	"run":     runForever,
	"sysctl":  holdSysctl,
}

func TestMain(m *testing.M) {
	RunHelper()
	// The race detector has a process sleep for a second before it exits.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	if tool := testTools[os.Getenv(testToolEnv)]; tool != nil {
		tool()
		fmt.Println("ready")
		select {}
	}
	os.Exit(m.Run())
}

func needRoot(t testing.TB) {
	t.Helper()
	testenv.Root(t) // to load programs, attach them and set sysctls
}

// startTool starts the test binary as a tool and waits until it holds what it
// is to hold.
func startTool(t *testing.T, tool string) *os.Process {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), testToolEnv+"="+tool)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("tool said %q (%v), want ready", line, err)
	}
	return cmd.Process
}

// descendants are the processes that a process has started, and theirs.
func descendants(t *testing.T, pid int) []int {
	t.Helper()
	children, err := processes(func(s procStat) bool { return s.parent == pid && s.state != 'Z' })
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(children)
	for _, child := range children {
		all = append(all, descendants(t, child)...)
	}
	return all
}

// waitEnded waits until none of the processes runs any more.
func waitEnded(t *testing.T, pids []int) {
	t.Helper()
	waitUntil(t, fmt.Sprintf("the end of processes %v", pids), func() bool {
		return !slices.ContainsFunc(pids, func(pid int) bool {
			stat, err := readProcStat(pid)
			return err == nil && stat.state != 'Z'
		})
	})
}

func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func TestAnUnknownHelperFails(t *testing.T) {
	out, err := helperCommand("bogus").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "helper bogus: unknown") {
		t.Fatalf("got %v: %s", err, out)
	}
}
