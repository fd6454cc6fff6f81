// Package workloadtest helps to test code that starts processes, and what ends
// with the tool that started them.
package workloadtest

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// toolEnv makes the test binary play the tool, as one of the tools of [Main], until
// it is killed.
const toolEnv = "EBPF_BENCH_TEST_TOOL"

// Main runs the tests of a package, unless this process is a helper, or one of
// the tools that [StartTool] starts by name.
func Main(m *testing.M, tools map[string]func()) {
	process.RunHelper()
	// The race detector makes a process sleep for a second before it exits.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	if tool := tools[os.Getenv(toolEnv)]; tool != nil {
		tool()
		fmt.Println("ready")
		select {}
	}
	os.Exit(m.Run())
}

// NeedFile skips a test if the kernel was built without the feature that has
// this file.
func NeedFile(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		testenv.Missing(t, name)
	}
}

// StartTool starts the test binary as a tool and waits until the tool holds
// what it should.
func StartTool(t *testing.T, tool string) *os.Process {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), toolEnv+"="+tool)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("tool said %q (%v), want ready", line, err)
	}
	return cmd.Process
}

// Descendants returns the processes that a process has started, and their
// descendants.
func Descendants(t *testing.T, pid int) []int {
	t.Helper()
	children, err := process.List(func(s process.Stat) bool { return s.Parent == pid && s.State != 'Z' })
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(children)
	for _, child := range children {
		all = append(all, Descendants(t, child)...)
	}
	return all
}

// WaitEnded waits until none of the processes runs any more.
func WaitEnded(t *testing.T, pids []int) {
	t.Helper()
	WaitUntil(t, fmt.Sprintf("the end of processes %v", pids), func() bool {
		return !slices.ContainsFunc(pids, func(pid int) bool {
			stat, err := process.ReadStat(pid)
			return err == nil && stat.State != 'Z'
		})
	})
}

// WaitUntil waits for a condition.
func WaitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// WantError checks for an error that contains all of the parts.
func WantError(t *testing.T, err error, parts ...string) {
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

// Check panics if a tool cannot go on.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Must is Check for a call with a result.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
