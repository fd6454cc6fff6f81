package vm

import (
	"fmt"
	"os"
	"os/exec"
)

// findQEMU returns the path of QEMU.
func findQEMU() (string, error) {
	path, err := exec.LookPath(qemuName)
	if err != nil {
		return "", &Fault{
			Kind:   ErrNoQEMU,
			Reason: fmt.Sprintf("no %s in $PATH", qemuName),
			Hint:   "install it: apt-get install --no-install-recommends qemu-system-x86, or dnf install qemu-system-x86-core",
		}
	}
	return path, nil
}

// kvmDevice is the device for access to KVM. Tests hide it.
var kvmDevice = "/dev/kvm"

// checkKVM finds problems early that QEMU would report only in its own words.
func checkKVM() error {
	f, err := os.OpenFile(kvmDevice, os.O_RDWR, 0)
	if err != nil {
		return &Fault{Kind: ErrKVM, Reason: err.Error()}
	}
	return f.Close()
}

// checkMemory refuses a guest that has too little memory to unpack its files:
// what would happen depends on the kernel, and most say nothing.
func (c *Cmd) checkMemory(kernelEnd uint64, initramfs *os.File) error {
	info, err := initramfs.Stat()
	if err != nil {
		return err
	}
	// The archive stays in memory next to the unpacked files.
	need := (kernelEnd+2*uint64(info.Size()))>>20 + 1
	if uint64(c.memory()) >= need {
		return nil
	}
	return tooLittleMemory(c.memory(), fmt.Sprintf("and its kernel and files alone take %d", need))
}
