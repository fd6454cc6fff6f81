//go:build linux

package perfprofiler

import (
	"testing"

	"golang.org/x/sys/unix"
)

var capabilityNames = map[int]string{
	unix.CAP_BPF:       "CAP_BPF to load programs",
	unix.CAP_PERFMON:   "CAP_PERFMON to sample other processes",
	unix.CAP_SYS_ADMIN: "CAP_SYS_ADMIN to have the kernel count runs",
}

// needs skips a test that lacks a capability, and says which.
func needs(tb testing.TB, capabilities ...int) {
	tb.Helper()

	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		tb.Fatal(err)
	}
	has := func(c int) bool { return data[c/32].Effective&(1<<(c%32)) != 0 }

	for _, c := range capabilities {
		// The others were split off CAP_SYS_ADMIN, which still includes them.
		if !has(c) && !has(unix.CAP_SYS_ADMIN) {
			tb.Skip("missing", capabilityNames[c])
		}
	}
}
