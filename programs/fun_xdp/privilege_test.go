//go:build linux

package funxdp

import (
	"testing"

	"golang.org/x/sys/unix"
)

var capabilityNames = map[int]string{
	unix.CAP_BPF:       "CAP_BPF to load programs",
	unix.CAP_NET_ADMIN: "CAP_NET_ADMIN to load and attach XDP programs",
	unix.CAP_NET_RAW:   "CAP_NET_RAW to send raw packets",
	unix.CAP_SYS_ADMIN: "CAP_SYS_ADMIN to make a network namespace",
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
		// CAP_BPF was split off CAP_SYS_ADMIN, which still includes it.
		if !has(c) && !(c == unix.CAP_BPF && has(unix.CAP_SYS_ADMIN)) {
			tb.Skip("missing", capabilityNames[c])
		}
	}
}
