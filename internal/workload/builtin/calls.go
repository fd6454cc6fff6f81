package builtin

import "golang.org/x/sys/unix"

const atCWD = ^uintptr(99) // AT_FDCWD, which is -100

// with makes a call with constant arguments.
func with(args func(*scene) []uintptr) prepareCall {
	return func(s *scene, nr uintptr) func() {
		a := args(s)
		return func() { raw(nr, a...) }
	}
}

// constant makes a call with arguments that need no scene.
func constant(args ...uintptr) prepareCall {
	return with(func(*scene) []uintptr { return args })
}

// opening makes a call that opens something, and closes that.
func opening(args func(*scene) []uintptr) prepareCall {
	return func(s *scene, nr uintptr) func() {
		a := args(s)
		return func() {
			if fd := raw(nr, a...); !failed(fd) {
				closeFD(fd)
			}
		}
	}
}

// calls are the system calls that a load makes with valid arguments, by name.
var calls = merged(identityCalls, fileCalls, pathCalls, memoryCalls, waitCalls)

var identityCalls = map[string]prepareCall{
	"getppid": constant(), "getpid": constant(), "gettid": constant(), "getuid": constant(),
	"geteuid": constant(), "getgid": constant(), "getegid": constant(), "getpgrp": constant(),
	"getpgid": constant(), "getsid": constant(), "sched_yield": constant(), "getpriority": constant(),
	"umask": constant(0o22), "getcpu": constant(), "time": constant(), "sched_getscheduler": constant(),
	"getgroups": constant(),
	"kill":      with(func(*scene) []uintptr { return []uintptr{uintptr(unix.Getpid()), 0} }),
	"tkill":     with(func(*scene) []uintptr { return []uintptr{uintptr(unix.Gettid()), 0} }),
	"tgkill":    with(func(*scene) []uintptr { return []uintptr{uintptr(unix.Getpid()), uintptr(unix.Gettid()), 0} }),
	"prctl":     constant(unix.PR_GET_DUMPABLE),
	"getrlimit": with(func(s *scene) []uintptr { return []uintptr{unix.RLIMIT_NOFILE, s.data()} }),
	"prlimit64": with(func(s *scene) []uintptr { return []uintptr{0, unix.RLIMIT_NOFILE, 0, s.data()} }),
	"getrusage": with(func(s *scene) []uintptr { return []uintptr{0, s.data()} }),
	"sysinfo":   with(func(s *scene) []uintptr { return []uintptr{s.data()} }),
	"uname":     with(func(s *scene) []uintptr { return []uintptr{s.data()} }),
	"times":     with(func(s *scene) []uintptr { return []uintptr{s.data()} }),
	"getcwd":    with(func(s *scene) []uintptr { return []uintptr{s.data(), sceneFile} }),
	"getrandom": with(func(s *scene) []uintptr { return []uintptr{s.data(), 16, 0} }),
	"sched_getaffinity": with(func(s *scene) []uintptr {
		return []uintptr{0, 128, s.data()}
	}),
	// No such command exists: it is refused after the hooks that judge it.
	"bpf": constant(1 << 20),
}

var waitCalls = map[string]prepareCall{
	"clock_gettime":   with(func(s *scene) []uintptr { return []uintptr{unix.CLOCK_MONOTONIC, s.data()} }),
	"clock_getres":    with(func(s *scene) []uintptr { return []uintptr{unix.CLOCK_MONOTONIC, s.data()} }),
	"gettimeofday":    with(func(s *scene) []uintptr { return []uintptr{s.data(), 0} }),
	"nanosleep":       with(func(s *scene) []uintptr { return []uintptr{s.words(0, 0), 0} }),
	"clock_nanosleep": with(func(s *scene) []uintptr { return []uintptr{unix.CLOCK_MONOTONIC, 0, s.words(0, 0), 0} }),
	"poll":            constant(),
	"ppoll":           with(func(s *scene) []uintptr { return []uintptr{0, 0, s.words(0, 0), 0} }),
	"select":          with(func(s *scene) []uintptr { return []uintptr{0, 0, 0, 0, s.words(0, 0)} }),
	"pselect6":        with(func(s *scene) []uintptr { return []uintptr{0, 0, 0, 0, s.words(0, 0), 0} }),
	"futex":           with(func(s *scene) []uintptr { return []uintptr{s.words(0), 1 /* FUTEX_WAKE */, 1} }),
	"epoll_create":    opening(func(*scene) []uintptr { return []uintptr{1} }),
	"epoll_create1":   opening(func(*scene) []uintptr { return []uintptr{unix.EPOLL_CLOEXEC} }),
	"epoll_wait":      with(func(s *scene) []uintptr { return []uintptr{s.epoll, s.data(), 1, 0} }),
	"epoll_pwait":     with(func(s *scene) []uintptr { return []uintptr{s.epoll, s.data(), 1, 0} }),
	"epoll_ctl":       epollAddAndDelete,
	"eventfd":         opening(func(*scene) []uintptr { return []uintptr{0} }),
	"inotify_init":    opening(func(*scene) []uintptr { return nil }),
	// Nobody has this key, and none is created.
	"msgget":         constant(0x6562656e, 0),
	"eventfd2":       opening(func(*scene) []uintptr { return []uintptr{0, unix.EFD_CLOEXEC} }),
	"timerfd_create": opening(func(*scene) []uintptr { return []uintptr{unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC} }),
	"rt_sigprocmask": with(func(s *scene) []uintptr { return []uintptr{0, 0, s.data(), 8} }),
	"rt_sigpending":  with(func(s *scene) []uintptr { return []uintptr{s.data(), 8} }),
	"rt_sigaction":   with(func(s *scene) []uintptr { return []uintptr{uintptr(unix.SIGUSR1), 0, s.data(), 8} }),
	"wait4":          constant(^uintptr(0), 0, unix.WNOHANG),
	"waitid":         constant(unix.P_ALL, 0, 0, unix.WNOHANG|unix.WEXITED),
}

func epollAddAndDelete(s *scene, nr uintptr) func() {
	event, op := s.words(0, 0), uintptr(unix.EPOLL_CTL_ADD)
	return func() {
		raw(nr, s.epoll, op, s.read, event)
		op = unix.EPOLL_CTL_ADD + unix.EPOLL_CTL_DEL - op // in turn
	}
}

func merged(all ...map[string]prepareCall) map[string]prepareCall {
	m := map[string]prepareCall{}
	for _, one := range all {
		for name, call := range one {
			m[name] = call
		}
	}
	return m
}
