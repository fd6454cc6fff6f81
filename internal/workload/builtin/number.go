package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// syscallNumbers returns the numbers of this machine's system calls by their
// names.
var syscallNumbers = sync.OnceValue(func() map[string]uintptr {
	numbers := map[string]uintptr{}
	next := 0
	for _, name := range strings.Fields(syscallNames) {
		if number, rest, ok := strings.Cut(name, ":"); ok {
			next, _ = strconv.Atoi(number) // a test reads them all
			name = rest
		}
		numbers[name] = uintptr(next)
		next++
	}
	return numbers
})

// harmful are the system calls that no load makes, whatever their arguments:
// they would end or change the machine, or end or block the worker.
var harmful = []string{
	"reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module",
	"sethostname", "setdomainname", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
	"swapon", "swapoff", "mount", "umount2", "pivot_root", "chroot", "mount_setattr", "move_mount",
	"acct", "quotactl", "quotactl_fd", "vhangup", "iopl", "ioperm", "sync", "syslog", "nfsservctl", "uselib",
	"pause", "rt_sigreturn", "restart_syscall", "seccomp", "setsid", "alarm", "vserver", "map_shadow_stack",
	"munlockall", "mlockall", "set_tid_address", "set_robust_list", "rseq", "uprobe", "uretprobe",
}

// CheckSyscall returns why no load can make the system call of that name, or
// nil.
func CheckSyscall(name string) error {
	_, err := syscallNumber(name)
	return err
}

func syscallNumber(name string) (uintptr, error) {
	if slices.Contains(harmful, name) {
		return 0, fmt.Errorf("the system call %s is not made by a load: it may harm the machine or keep the load", name)
	}
	if n, ok := syscallNumbers()[name]; ok {
		return n, nil
	}
	return 0, fmt.Errorf("unknown system call %q%s", name, strictyaml.DidYouMean(name, slices.Sorted(maps.Keys(syscallNumbers()))))
}
