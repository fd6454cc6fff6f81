package vm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// The test binary is what runs in the guest: as its first process, and as the
// command, which is one of guestCommands. It is two more things for the tests:
// a QEMU, and a process that runs a VM until it is killed.
func TestMain(m *testing.M) {
	guest.Main()
	if results := guest.Results(); results != nil {
		guestCommands[os.Args[1]](os.Args[2:], results)
		os.Exit(0)
	}
	if filepath.Base(os.Args[0]) == qemuName {
		fakeQEMU()
	}
	if image := os.Getenv(hostEnv); image != "" {
		runHost(image)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}
