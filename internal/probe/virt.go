package probe

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// From linux/kvm.h.
const (
	kvmGetAPIVersion = 0xAE00
	kvmAPIVersion    = 12
)

// NoKVM returns why no kernel boots under KVM on this machine. It is nil if one
// does, and if that is unknown.
func NoKVM() error {
	if err := haveKVM(); answer(err) == No {
		return err
	}
	return nil
}

// haveKVM checks whether we may use KVM, so that a refusal is an answer, too,
// and runs a guest of a few instructions: the device also exists where no
// kernel boots, such as in a virtual machine that emulates KVM in software.
func haveKVM() error {
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return lackingIf(err, os.ErrNotExist, os.ErrPermission, unix.ENODEV, unix.ENXIO)
	}
	defer f.Close()

	version, err := unix.IoctlRetInt(int(f.Fd()), kvmGetAPIVersion)
	if err != nil {
		return fmt.Errorf("read KVM's version: %w", err)
	}
	if version != kvmAPIVersion {
		return lacking("KVM has version %d of its interface instead of %d", version, kvmAPIVersion)
	}
	return runGuest(int(f.Fd()))
}

func haveQEMU() error {
	name := "qemu-system-" + qemuArch(runtime.GOARCH)
	_, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		return lacking("%s is not in PATH", name)
	}
	return err
}

// qemuArch returns QEMU's name for an architecture of Go.
func qemuArch(goarch string) string {
	switch goarch {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	case "386":
		return "i386"
	case "ppc64le":
		return "ppc64"
	case "loong64":
		return "loongarch64"
	}
	return goarch
}
