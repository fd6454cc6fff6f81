package vm

import (
	"os"
	"testing"
)

// The test binary is what runs in the guest: as its first process, and as the
// command, which is one of guestCommands.
func TestMain(m *testing.M) {
	Main()
	if results := Results(); results != nil {
		guestCommands[os.Args[1]](os.Args[2:], results)
		os.Exit(0)
	}
	os.Exit(m.Run())
}
