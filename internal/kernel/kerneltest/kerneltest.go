// Package kerneltest tells tests whether other kernels can be booted.
package kerneltest

import (
	"os/exec"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// CanBoot reports whether QEMU and the kernels that tests boot exist. In CI they must,
// unless CI cannot run virtual machines.
func CanBoot(t *testing.T) bool {
	t.Helper()
	err := found()
	if err != nil && testenv.MustBoot() {
		t.Fatalf("CI must run what takes virtual machines: %v", err)
	}
	return err == nil
}

func found() error {
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		return err
	}
	kernels, err := kernel.OpenCache("")
	if err != nil {
		return err
	}
	_, err = kernels.Path("6.12")
	return err
}
