package hook

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf"
)

func TestSectionsAreHooks(t *testing.T) {
	for section, want := range map[string]struct {
		program      ebpf.ProgramType
		as           ebpf.AttachType
		target       string
		sleepable    bool
		name, except string
	}{
		"tracepoint/syscalls/sys_enter_openat": {program: ebpf.TracePoint, name: "tracepoint", target: "syscalls/sys_enter_openat"},
		"tp/sched/sched_switch":                {program: ebpf.TracePoint, name: "tp", target: "sched/sched_switch"},
		"?raw_tp/sys_enter":                    {program: ebpf.RawTracepoint, name: "raw_tp", target: "sys_enter"},
		"raw_tp.w/nbd_send_request":            {program: ebpf.RawTracepointWritable, name: "raw_tp.w", target: "nbd_send_request"},
		"tp_btf/sched_switch":                  {program: ebpf.Tracing, as: ebpf.AttachTraceRawTp, name: "tp_btf", target: "sched_switch"},
		"kprobe/vfs_read+0x4":                  {program: ebpf.Kprobe, name: "kprobe", target: "vfs_read+0x4"},
		"kretprobe.multi/vfs_*":                {program: ebpf.Kprobe, as: ebpf.AttachTraceKprobeMulti, name: "kretprobe.multi", target: "vfs_*"},
		"uprobe.s//bin/sh:main+4":              {program: ebpf.Kprobe, name: "uprobe", target: "/bin/sh:main+4", sleepable: true},
		"uretprobe.multi.s/libc.so.6:malloc":   {program: ebpf.Kprobe, as: ebpf.AttachTraceUprobeMulti, name: "uretprobe.multi", target: "libc.so.6:malloc", sleepable: true},
		"fentry.s/bpf_fentry_test1":            {program: ebpf.Tracing, as: ebpf.AttachTraceFEntry, name: "fentry", target: "bpf_fentry_test1", sleepable: true},
		"fmod_ret/security_file_open":          {program: ebpf.Tracing, as: ebpf.AttachModifyReturn, name: "fmod_ret", target: "security_file_open"},
		"lsm.s/file_open":                      {program: ebpf.LSM, as: ebpf.AttachLSMMac, name: "lsm", target: "file_open", sleepable: true},
		"iter/bpf_map_elem":                    {program: ebpf.Tracing, as: ebpf.AttachTraceIter, name: "iter", target: "bpf_map_elem"},
		"usdt/./prog:demo:step":                {program: ebpf.Kprobe, name: "usdt", target: "./prog:demo:step"},
		"kprobe":                               {except: "attach, such as kprobe/vfs_read"},
		"uprobe":                               {except: "attach, such as uprobe//usr/lib/libc.so.6:malloc"},
		"kprobes/vfs_read":                     {except: "did you mean"},
		"xdp":                                  {except: "is not a hook that a program is attached to"},
		"":                                     {except: "is not a hook that a program is attached to"},
		"/":                                    {except: "is not a hook that a program is attached to"},
		"lsm_cgroup/socket_create":             {except: "attached to a cgroup, which is not done here"},
		"uprobe.session//bin/sh:main":          {except: "begins and ends, which is not done here"},
		"fsession/vfs_read":                    {except: "begins and ends, which is not done here"},
	} {
		h, err := Parse(section)
		if want.except != "" {
			if err == nil || !strings.Contains(err.Error(), want.except) {
				t.Errorf("%q: got %v, want %q", section, err, want.except)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", section, err)
			continue
		}
		if h.program != want.program || h.as != want.as || h.name != want.name || h.Target != want.target || h.sleepable != want.sleepable {
			t.Errorf("%q: got %+v of %+v", section, h, h.hookKind)
		}
	}
}

func TestProgramsElsewhere(t *testing.T) {
	for _, c := range []struct {
		hook, other, tracepoint string
		elsewhere               bool
	}{
		{"tp/sched/sched_switch", "raw_tp", "sched_switch", false},
		{"tp/sched/sched_switch", "raw_tp", "sched_wakeup", true},
		{"tp_btf/sched_switch", "tp", "sched_wakeup", true},
		{"tp_btf/sched_switch", "fentry", "", false}, // a function on the way
		{"raw_tp/sys_enter", "tp", "sys_enter_openat", false},
		{"tp/syscalls/sys_enter_openat", "raw_tp", "sys_enter", false},
		{"tp/syscalls/sys_enter_openat", "raw_tp", "sys_exit", true},
		{"tp/syscalls/sys_enter_openat", "tp", "sys_enter_read", true},
		{"kprobe/vfs_read", "raw_tp", "sys_enter", false}, // on the way, or not
		{"usdt/./prog:demo:step", "tp_btf", "sched_switch", true},
		{"usdt/./prog:demo:step", "uprobe", "", false},
	} {
		h, err := Parse(c.hook)
		if err != nil {
			t.Fatal(err)
		}
		if h.Elsewhere(hookKinds[c.other].program, c.tracepoint) != c.elsewhere {
			t.Errorf("%s, a program of %s on %q: elsewhere: %t", c.hook, c.other, c.tracepoint, !c.elsewhere)
		}
	}
}

func TestUserTargets(t *testing.T) {
	for section, want := range map[string]userTarget{
		"uprobe//bin/sh:main":          {"/bin/sh", "main"},
		"uprobe/./a:b:main+4":          {"./a:b", "main+4"},
		"usdt//bin/sh:provider:name":   {"/bin/sh", "provider:name"},
		"usdt/lib.so.1:provider:name":  {"lib.so.1", "provider:name"},
		"uretprobe.multi/libc.so.6:mm": {"libc.so.6", "mm"},
	} {
		h, err := Parse(section)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.userTarget(); got != want || err != nil {
			t.Errorf("%s: got %v, %v", section, got, err)
		}
	}
	for _, section := range []string{"uprobe/main", "uprobe//bin/sh:", "uprobe/:main", "usdt//bin/sh:name", "usdt/:a:b"} {
		h, err := Parse(section)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.userTarget(); err == nil {
			t.Errorf("%s: got %v", section, got)
		}
	}
}

// A hook gets the load that calls it.
func TestLoadsSuitHooks(t *testing.T) {
	for section, want := range map[string]string{
		"tp/syscalls/sys_enter_openat":      "syscalls openat",
		"tracepoint/syscalls/sys_exit_read": "syscalls read",
		"tp/syscalls/sys_enter_newstat":     "syscalls stat",
		"tp/syscalls/sys_enter_reboot":      "mixture ",
		"tp/raw_syscalls/sys_enter":         "syscalls getppid",
		"raw_tp/sys_exit":                   "syscalls getppid",
		"kprobe/__x64_sys_getpid":           "syscalls getpid",
		"kprobe/__sys_connect":              "syscalls connect",
		"kprobe/do_sys_openat2":             "syscalls openat2",
		"ksyscall/nanosleep":                "syscalls nanosleep",
		"ksyscall/execve":                   "syscalls execve",
		"fentry/__se_sys_write":             "syscalls write",
		"tp/sched/sched_switch":             "switches ",
		"tp_btf/sched_wakeup":               "switches ",
		"tp/sched/sched_process_exec":       "forks ",
		"kprobe/kernel_clone":               "forks ",
		"lsm/bprm_check_security":           "forks ",
		"tp/exceptions/page_fault_user":     "faults ",
		"fexit/handle_mm_fault":             "faults ",
		"kprobe/vfs_read":                   "reads ",
		"kretprobe/vfs_write":               "writes ",
		"tp/signal/signal_generate":         "signals ",
		"kprobe/tcp_v4_connect":             "sockets ",
		"fentry/udp_sendmsg":                "sockets ",
		"tp/sock/inet_sock_set_state":       "sockets ",
		"lsm/file_open":                     "syscalls openat",
		"lsm/socket_connect":                "syscalls connect",
		"kprobe/something_else":             "mixture ",
		"tp/block/block_rq_issue":           "mixture ",
	} {
		h, err := Parse(section)
		if err != nil {
			t.Fatal(err)
		}
		load, syscall := LoadOf(h)
		if got := load + " " + syscall; got != want {
			t.Errorf("%s: got %q, want %q", section, got, want)
		}
	}
}
