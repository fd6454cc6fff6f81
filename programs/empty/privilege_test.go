//go:build linux

package empty

import (
	"testing"

	"golang.org/x/sys/unix"
)

var capabilityNames = map[int]string{
	unix.CAP_BPF:       "CAP_BPF to load programs",
	unix.CAP_PERFMON:   "CAP_PERFMON to load tracing programs",
	unix.CAP_NET_ADMIN: "CAP_NET_ADMIN to load network programs",
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
		// CAP_BPF and CAP_PERFMON were split off CAP_SYS_ADMIN, which still
		// includes them.
		if !has(c) && (c == unix.CAP_NET_ADMIN || !has(unix.CAP_SYS_ADMIN)) {
			tb.Skip("missing", capabilityNames[c])
		}
	}
}
