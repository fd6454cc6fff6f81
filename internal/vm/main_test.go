package vm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/org/ebpf-bench-action/internal/vm/guest"
)

// The guest runs the test binary: as its first process, and as the command,
// which is one of guestCommands. For the tests, the binary is two more things:
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
