package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/process"
)

// doctorEnv makes the test binary print what Doctor finds instead of testing,
// so that a test can run it as another user.
const doctorEnv = "PROBE_TEST_DOCTOR"

func TestMain(m *testing.M) {
	process.RunHelper()
	if os.Getenv(doctorEnv) == "" {
		os.Exit(m.Run())
	}
	if err := json.NewEncoder(os.Stdout).Encode(Doctor(context.Background())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// needRoot skips a test that loads programs or makes namespaces.
func needRoot(t *testing.T) {
	t.Helper()
	missing, err := Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	// Like testenv.Root, which cannot be imported here.
	switch text := "needs root: missing " + strings.Join(missing, ", "); {
	case os.Getenv("EBPF_BENCH_TEST_HOST") == "none":
		t.Skip("EBPF_BENCH_TEST_HOST=none: this test runs in a virtual machine")
	case len(missing) == 0:
	case os.Getenv("CI") != "":
		t.Fatal("CI must run this test: it " + text)
	default:
		t.Skip(text)
	}
}

// doctorAs runs Doctor in a separate process.
func doctorAs(t *testing.T, attr *syscall.SysProcAttr) map[string]Finding {
	t.Helper()
	// Use the descriptor, since others may not enter the directory of the
	// binary.
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()

	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3")
	cmd.ExtraFiles = []*os.File{self}
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), doctorEnv+"=1")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = attr
	out, err := cmd.Output()
	if os.Getenv("CI") == "" && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EINVAL)) {
		t.Skipf("this kernel starts no such process: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}

	var findings []Finding
	if err := json.Unmarshal(out, &findings); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return byName(findings)
}

func byName(findings []Finding) map[string]Finding {
	m := make(map[string]Finding, len(findings))
	for _, f := range findings {
		m[f.Name] = f
	}
	return m
}
