package hook

import (
	"regexp"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/builtin"
)

// LoadOf returns the load that calls a hook, judging by the hook's name, and,
// for the load syscalls, the system call. A name that says nothing gets the
// mixture, which does what all of the loads do.
func LoadOf(h *Hook) (load, syscall string) {
	name := h.Target[strings.LastIndex(h.Target, "/")+1:]
	if call := syscallOf(h, name); call != "" {
		return bench.LoadSyscalls, call
	}
	if group, event, ok := strings.Cut(h.Target, "/"); ok && h.program == ebpf.TracePoint {
		name = group + ":" + event
	}
	if h.program == ebpf.LSM {
		if call := lsmSyscalls[name]; call != "" {
			return bench.LoadSyscalls, call
		}
	}
	for _, l := range loadNames {
		if l.name.MatchString(name) {
			return l.load, ""
		}
	}
	return bench.LoadMixture, ""
}

// sysFunction matches the names of functions that serve a system call.
var sysFunction = regexp.MustCompile(`^(?:sys_enter_|sys_exit_|__(?:x64|ia32|arm64|do|se)_sys_|__sys_|sys_|do_sys_|ksys_)(\w+)$`)

// servedBy has functions that serve system calls with another name.
var servedBy = map[string]string{
	"newstat": "stat", "newlstat": "lstat", "newfstat": "fstat", "newuname": "uname", "sendfile64": "sendfile", "umount": "umount2",
}

// syscallOf returns the system call of a hook, or "" if it is of none that a
// load makes.
func syscallOf(h *Hook, name string) string {
	call := ""
	switch {
	case strings.HasSuffix(h.name, "syscall"):
		call = name
	case name == "sys_enter" || name == "sys_exit":
		return "getppid" // for every system call
	default:
		if m := sysFunction.FindStringSubmatch(name); m != nil {
			call = m[1]
		}
	}
	if other := servedBy[call]; other != "" {
		call = other
	}
	if builtin.CheckSyscall(call) != nil {
		return ""
	}
	return call
}

// loadNames match the names of hooks to loads. The first match counts.
var loadNames = []struct {
	name *regexp.Regexp
	load string
}{
	{regexp.MustCompile(`sched_process_|bprm|_fork$|copy_process|kernel_clone|task_alloc|task_free|task_newtask|task:|execve|do_exit|wake_up_new_task`), bench.LoadForks},
	{regexp.MustCompile(`^sched:|^sched_(switch|wakeup|waking|stat)|finish_task_switch|^schedule$|try_to_wake_up|ttwu_|pick_next_task`), bench.LoadSwitches},
	{regexp.MustCompile(`page_fault|^exceptions:|handle_mm_fault|alloc_anon|do_anonymous_page`), bench.LoadFaults},
	{regexp.MustCompile(`^(vfs_read|__vfs_read|new_sync_read|rw_verify_area|fsnotify_access|shmem_file_read_iter|generic_file_read_iter)`), bench.LoadReads},
	{regexp.MustCompile(`^(vfs_write|__vfs_write|new_sync_write|generic_perform_write|generic_file_write_iter|shmem_write_|shmem_file_write_iter)`), bench.LoadWrites},
	{regexp.MustCompile(`^signal:|^signal_|send_signal|do_send_|complete_signal|get_signal|task_kill`), bench.LoadSignals},
	{regexp.MustCompile(`^(tcp|udp|inet|ip4?|net|sock|skb)[:_]|netif_|dev_queue_xmit|__skb|kfree_skb|consume_skb|socket_|security_sock`), bench.LoadSockets},
}

// lsmSyscalls are the system calls that hooks of security modules judge.
var lsmSyscalls = map[string]string{
	"file_open": "openat", "file_permission": "read", "file_mprotect": "mprotect", "mmap_file": "mmap", "mmap_addr": "mmap",
	"inode_unlink": "unlinkat", "path_unlink": "unlinkat", "inode_mkdir": "mkdirat", "path_mkdir": "mkdirat",
	"inode_rmdir": "rmdir", "path_rmdir": "rmdir", "inode_rename": "renameat2", "path_rename": "renameat2",
	"inode_create": "creat", "inode_getattr": "newfstatat", "inode_permission": "newfstatat", "path_truncate": "truncate",
	"inode_symlink": "symlinkat", "inode_link": "linkat", "path_link": "linkat", "inode_mknod": "mknodat", "path_mknod": "mknodat",
	"inode_readlink": "readlinkat", "inode_setattr": "fchmodat", "path_chmod": "fchmodat", "path_chown": "fchownat",
	"file_ioctl": "ioctl", "file_fcntl": "fcntl", "file_lock": "flock", "bpf": "bpf",
	"socket_create": "socket", "socket_post_create": "socket", "socket_bind": "bind", "socket_connect": "connect",
	"socket_listen": "listen", "socket_accept": "accept4", "socket_sendmsg": "sendto", "socket_recvmsg": "recvfrom",
	"socket_getsockname": "getsockname", "socket_getpeername": "getpeername", "socket_setsockopt": "setsockopt",
	"socket_getsockopt": "getsockopt", "socket_shutdown": "shutdown", "task_kill": "kill", "task_prctl": "prctl",
}
