// Package testenv decides which tests this machine can run, so that a skip
// always names what is missing and never hides a failure.
package testenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf/rlimit"

	"github.com/org/ebpf-bench-action/internal/probe"
)

// NoHost reports whether this machine's kernel must not be tested, because the
// environment has EBPF_BENCH_TEST_HOST=none: it may be one that loads no
// programs, or not for long. Tests that need a kernel then run in a virtual
// machine alone; see TestOnKernels in vmtest.
func NoHost() bool { return os.Getenv("EBPF_BENCH_TEST_HOST") == "none" }

// noKernels reports whether there may be no kernels for virtual machines, nor a
// mirror to get them from, because the environment has
// EBPF_BENCH_TEST_KERNELS=none.
func noKernels() bool { return os.Getenv("EBPF_BENCH_TEST_KERNELS") == "none" }

// Missing skips a test that needs something that CI has. In CI it fails
// instead.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("CI must run this test: missing %s", what)
	}
	t.Skipf("missing %s", what)
}

// MissingKernel is Missing for what it takes to get and boot other kernels.
// With EBPF_BENCH_TEST_KERNELS=none it skips the test in CI, too.
func MissingKernel(t testing.TB, what string) {
	t.Helper()
	if noKernels() {
		t.Skipf("EBPF_BENCH_TEST_KERNELS=none: missing %s", what)
	}
	Missing(t, what)
}

// MustBoot reports whether it is a failure if other kernels cannot be booted.
func MustBoot() bool { return os.Getenv("CI") != "" && !noKernels() }

// Long skips a test under go test -short, the level that every change must pass.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: it " + why)
	}
}

// Takes skips a test that takes up to that long where the -timeout of go test leaves less,
// ten minutes a package if none is given. In CI it fails instead.
func Takes(t *testing.T, most time.Duration) {
	t.Helper()
	if end, ok := t.Deadline(); ok && time.Until(end) < most {
		Missing(t, fmt.Sprintf("time: it takes up to %s, and go test has %s left: give it -timeout 2h", most, time.Until(end).Round(time.Second)))
	}
}

// Plain skips a test with the race detector, which makes it many times slower: goroutines
// of the test share nothing.
func Plain(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("this test runs without the race detector: its goroutines share nothing")
	}
}

// InGuest reports whether vmtest runs this test in a virtual machine.
func InGuest() bool { return os.Getenv("VMTEST_NOW") != "" }

// Host skips a test in a virtual machine of vmtest, because the host has something that
// the machine lacks.
func Host(t testing.TB, what string) {
	t.Helper()
	if InGuest() {
		t.Skip("this test runs on the host: it needs " + what)
	}
}

// Guest skips a test outside of the virtual machines of vmtest, which runs all that call
// it: what it does to a kernel is not to be done to that of the host.
func Guest(t testing.TB, why string) {
	t.Helper()
	if !InGuest() {
		t.Skip("this test runs in a virtual machine: " + why)
	}
}

// Tools skips a test that runs commands that this machine lacks.
func Tools(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			Missing(t, name)
		}
	}
}

// Root skips a test for which the process lacks capabilities, and names them.
// In CI, which promises to run as root, it fails instead.
func Root(t testing.TB) {
	t.Helper()
	if NoHost() {
		t.Skip("EBPF_BENCH_TEST_HOST=none: this test runs in a virtual machine")
	}
	missing, err := probe.Capabilities()
	if err != nil {
		t.Fatalf("read capabilities: %v", err)
	}
	if len(missing) == 0 {
		// Before Linux 5.11, maps and programs count as locked memory.
		if err := rlimit.RemoveMemlock(); err != nil {
			t.Fatal(err)
		}
		return
	}
	Missing(t, "root's capabilities "+strings.Join(missing, ", "))
}

// Probe skips a test that needs a feature that this kernel or machine lacks. A
// probe that breaks fails the test.
func Probe(t testing.TB, name string) {
	t.Helper()
	Root(t)
	for _, p := range probe.Probes() {
		if p.Name != name {
			continue
		}
		switch f := p.Run(context.Background()); f.Answer {
		case probe.Yes:
		case probe.No:
			t.Skipf("this kernel or machine lacks %s: %s", name, f.Reason)
		default:
			t.Fatalf("probe %s is broken: %s", name, f.Reason)
		}
		return
	}
	t.Fatalf("no probe %q", name)
}

// Write writes a file, and creates its folders.
func Write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
