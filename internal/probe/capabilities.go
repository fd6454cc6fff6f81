package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// capability is a capability that a run needs. Like the kernel, it accepts
// CAP_SYS_ADMIN in place of those that were split off it in Linux 5.8.
type capability struct {
	name      string
	bit       int
	fromAdmin bool
}

// needed are the capabilities that a run needs, and why.
var needed = []capability{
	{"CAP_BPF", unix.CAP_BPF, true},              // load programs
	{"CAP_PERFMON", unix.CAP_PERFMON, true},      // load and attach tracing programs
	{"CAP_NET_ADMIN", unix.CAP_NET_ADMIN, false}, // load and attach XDP programs, make veths
	{"CAP_NET_RAW", unix.CAP_NET_RAW, false},     // send packets by AF_PACKET
	{"CAP_SYS_ADMIN", unix.CAP_SYS_ADMIN, false}, // count run_time_ns, make network namespaces
}

// Capabilities returns the capabilities that a run needs and that the effective
// set of the calling thread lacks. In a user namespace it lacks all, because
// bpf() requires capabilities in the initial one.
func Capabilities() (missing []string, err error) {
	initial, err := inInitialUserNS()
	if err != nil {
		return nil, err
	}
	if !initial {
		return missingFrom(0), nil
	}
	effective, err := effectiveSet()
	if err != nil {
		return nil, err
	}
	return missingFrom(effective), nil
}

// lackCapabilities reports whether a refusal may concern only this process.
func lackCapabilities() bool {
	missing, err := Capabilities()
	return err != nil || len(missing) > 0
}

func haveCapabilities() error {
	missing, err := Capabilities()
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	err = lacking("missing %s", strings.Join(missing, ", "))
	if initial, nsErr := inInitialUserNS(); nsErr == nil && !initial {
		return fmt.Errorf("%w (inside a user namespace)", err)
	}
	return err
}

func missingFrom(effective uint64) []string {
	has := func(bit int) bool { return effective&(1<<bit) != 0 }

	var missing []string
	for _, c := range needed {
		if has(c.bit) || c.fromAdmin && has(unix.CAP_SYS_ADMIN) {
			continue
		}
		missing = append(missing, c.name)
	}
	return missing
}

func effectiveSet() (uint64, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0, fmt.Errorf("read capabilities: %w", err)
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective), nil
}

// initialUserNS is the inode number of the initial user namespace in the kernel
// (USER_NS_INIT_INO).
const initialUserNS = 0xEFFFFFFD

func inInitialUserNS() (bool, error) {
	ns, err := os.Readlink("/proc/thread-self/ns/user")
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // a kernel without user namespaces has just one
	}
	if err != nil {
		return false, fmt.Errorf("read user namespace: %w", err)
	}
	return ns == fmt.Sprintf("user:[%d]", uint32(initialUserNS)), nil
}
