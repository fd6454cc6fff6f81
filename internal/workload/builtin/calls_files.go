package builtin

import "golang.org/x/sys/unix"

// fileCalls act on an open file.
var fileCalls = map[string]prepareCall{
	"read":      readFromStart,
	"readv":     with(func(s *scene) []uintptr { return []uintptr{s.file, s.vector(), 1} }),
	"write":     readFromStart,
	"writev":    rewound(func(s *scene) []uintptr { return []uintptr{s.file, s.vector(), 1} }),
	"pread64":   with(func(s *scene) []uintptr { return []uintptr{s.file, s.data(), sceneFile, 0} }),
	"pwrite64":  with(func(s *scene) []uintptr { return []uintptr{s.file, s.data(), sceneFile, 0} }),
	"preadv":    with(func(s *scene) []uintptr { return []uintptr{s.file, s.vector(), 1, 0, 0} }),
	"pwritev":   with(func(s *scene) []uintptr { return []uintptr{s.file, s.vector(), 1, 0, 0} }),
	"preadv2":   with(func(s *scene) []uintptr { return []uintptr{s.file, s.vector(), 1, 0, 0, 0} }),
	"pwritev2":  with(func(s *scene) []uintptr { return []uintptr{s.file, s.vector(), 1, 0, 0, 0} }),
	"lseek":     with(func(s *scene) []uintptr { return []uintptr{s.file} }),
	"fsync":     with(func(s *scene) []uintptr { return []uintptr{s.file} }),
	"fdatasync": with(func(s *scene) []uintptr { return []uintptr{s.file} }),
	"fstat":     with(func(s *scene) []uintptr { return []uintptr{s.file, s.data()} }),
	"fstatfs":   with(func(s *scene) []uintptr { return []uintptr{s.file, s.data()} }),
	"ftruncate": with(func(s *scene) []uintptr { return []uintptr{s.file, sceneFile} }),
	"fallocate": with(func(s *scene) []uintptr { return []uintptr{s.file, 0, 0, sceneFile} }),
	"fchmod":    with(func(s *scene) []uintptr { return []uintptr{s.file, 0o600} }),
	"fchown":    with(func(s *scene) []uintptr { return []uintptr{s.file, ^uintptr(0), ^uintptr(0)} }),
	"flock":     with(func(s *scene) []uintptr { return []uintptr{s.file, unix.LOCK_UN} }),
	"fcntl":     with(func(s *scene) []uintptr { return []uintptr{s.file, unix.F_GETFD} }),
	"ioctl":     with(func(s *scene) []uintptr { return []uintptr{s.read, unix.TIOCINQ, s.data()} }),
	"dup":       opening(func(s *scene) []uintptr { return []uintptr{s.file} }),
	"dup2":      opening(func(s *scene) []uintptr { return []uintptr{s.file, spareFD} }),
	"dup3":      opening(func(s *scene) []uintptr { return []uintptr{s.file, spareFD, unix.O_CLOEXEC} }),
	"memfd_create": opening(func(s *scene) []uintptr {
		return []uintptr{s.text("memory"), unix.MFD_CLOEXEC}
	}),
	"pipe":  pipes,
	"pipe2": pipes,
	"close": func(s *scene, nr uintptr) func() {
		return func() { raw(nr, raw(unix.SYS_DUP, s.file)) }
	},
	"getdents64": func(s *scene, nr uintptr) func() {
		dir := raw(unix.SYS_OPENAT, atCWD, s.text("."), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
		return func() {
			raw(unix.SYS_LSEEK, dir, 0, 0)
			raw(nr, dir, s.data(), sceneFile)
		}
	},
	"sendfile": func(s *scene, nr uintptr) func() {
		zero := s.words(0)
		return func() {
			raw(nr, s.write, s.file, zero, 64)
			raw(unix.SYS_READ, s.read, s.other(), 64)
		}
	},
}

// spareFD is a descriptor that the worker does not use.
const spareFD = 200

// vector returns the address of a vector with one element: the data.
func (s *scene) vector() uintptr { return s.words(uint64(s.data()), sceneFile) }

// readFromStart reads or writes the whole file, and returns to its start.
func readFromStart(s *scene, nr uintptr) func() {
	return rewound(func(s *scene) []uintptr { return []uintptr{s.file, s.data(), sceneFile} })(s, nr)
}

func rewound(args func(*scene) []uintptr) prepareCall {
	return func(s *scene, nr uintptr) func() {
		a := args(s)
		return func() {
			raw(nr, a...)
			raw(unix.SYS_LSEEK, s.file, 0, 0)
		}
	}
}

func pipes(s *scene, nr uintptr) func() {
	return func() {
		if !failed(raw(nr, s.data(), 0)) {
			closeFD(uintptr(s.int32(0)))
			closeFD(uintptr(s.int32(1)))
		}
	}
}

// pathCalls act on names in the scene's folder.
var pathCalls = map[string]prepareCall{
	"open":       opening(func(s *scene) []uintptr { return []uintptr{s.text("file"), unix.O_RDONLY | unix.O_CLOEXEC} }),
	"openat":     opening(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), unix.O_RDONLY | unix.O_CLOEXEC} }),
	"openat2":    opening(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), s.words(unix.O_CLOEXEC, 0, 0), 24} }),
	"creat":      opening(func(s *scene) []uintptr { return []uintptr{s.text("created"), 0o600} }),
	"stat":       onFile("file"),
	"lstat":      onFile("symlink"),
	"statfs":     onFile("file"),
	"access":     with(func(s *scene) []uintptr { return []uintptr{s.text("file"), unix.R_OK} }),
	"chmod":      with(func(s *scene) []uintptr { return []uintptr{s.text("file"), 0o600} }),
	"chown":      with(func(s *scene) []uintptr { return []uintptr{s.text("file"), ^uintptr(0), ^uintptr(0)} }),
	"truncate":   with(func(s *scene) []uintptr { return []uintptr{s.text("file"), sceneFile} }),
	"chdir":      with(func(s *scene) []uintptr { return []uintptr{s.text(".")} }),
	"readlink":   with(func(s *scene) []uintptr { return []uintptr{s.text("symlink"), s.data(), sceneFile} }),
	"newfstatat": with(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), s.data(), 0} }),
	"statx":      with(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), 0, unix.STATX_BASIC_STATS, s.data()} }),
	"faccessat":  with(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), unix.R_OK} }),
	"faccessat2": with(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), unix.R_OK, 0} }),
	"fchmodat":   with(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), 0o600} }),
	"fchownat":   with(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), ^uintptr(0), ^uintptr(0), 0} }),
	"readlinkat": with(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("symlink"), s.data(), sceneFile} }),
	"utimensat":  with(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("file"), 0, 0} }),
	"getxattr":   with(func(s *scene) []uintptr { return []uintptr{s.text("file"), s.text("user.none"), s.data(), 16} }),

	"mkdir":   undone(func(s *scene) []uintptr { return []uintptr{s.text("made"), 0o700} }, removeDir),
	"mkdirat": undone(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("made"), 0o700} }, removeDir),
	"rmdir":   after(makeDir, func(s *scene) []uintptr { return []uintptr{s.text("made")} }),
	"link":    undone(func(s *scene) []uintptr { return []uintptr{s.text("file"), s.text("made")} }, removeFile),
	"linkat": undone(func(s *scene) []uintptr {
		return []uintptr{atCWD, s.text("file"), atCWD, s.text("made"), 0}
	}, removeFile),
	"symlink":   undone(func(s *scene) []uintptr { return []uintptr{s.text("file"), s.text("made")} }, removeFile),
	"symlinkat": undone(func(s *scene) []uintptr { return []uintptr{s.text("file"), atCWD, s.text("made")} }, removeFile),
	"mknod":     undone(func(s *scene) []uintptr { return []uintptr{s.text("made"), unix.S_IFREG | 0o600, 0} }, removeFile),
	"mknodat":   undone(func(s *scene) []uintptr { return []uintptr{atCWD, s.text("made"), unix.S_IFREG | 0o600, 0} }, removeFile),
	"unlink":    after(makeFile, func(s *scene) []uintptr { return []uintptr{s.text("made")} }),
	"unlinkat":  after(makeFile, func(s *scene) []uintptr { return []uintptr{atCWD, s.text("made"), 0} }),
	"rename":    after(makeFile, func(s *scene) []uintptr { return []uintptr{s.text("made"), s.text("renamed")} }),
	"renameat":  after(makeFile, func(s *scene) []uintptr { return []uintptr{atCWD, s.text("made"), atCWD, s.text("renamed")} }),
	"renameat2": after(makeFile, func(s *scene) []uintptr { return []uintptr{atCWD, s.text("made"), atCWD, s.text("renamed"), 0} }),
}

func onFile(name string) prepareCall {
	return with(func(s *scene) []uintptr { return []uintptr{s.text(name), s.data()} })
}

// undone makes a call and then undoes it.
func undone(args func(*scene) []uintptr, undo prepareCall) prepareCall {
	return func(s *scene, nr uintptr) func() {
		a, back := args(s), undo(s, nr)
		return func() {
			raw(nr, a...)
			back()
		}
	}
}

// after makes a call on what before made.
func after(before prepareCall, args func(*scene) []uintptr) prepareCall {
	return func(s *scene, nr uintptr) func() {
		a, first := args(s), before(s, nr)
		return func() {
			first()
			raw(nr, a...)
		}
	}
}

func makeDir(s *scene, _ uintptr) func() {
	made := s.text("made")
	return func() { raw(unix.SYS_MKDIRAT, atCWD, made, 0o700) }
}

func removeDir(s *scene, _ uintptr) func() {
	made := s.text("made")
	return func() { raw(unix.SYS_UNLINKAT, atCWD, made, unix.AT_REMOVEDIR) }
}

func makeFile(s *scene, _ uintptr) func() {
	made := s.text("made")
	return func() { raw(unix.SYS_MKNODAT, atCWD, made, unix.S_IFREG|0o600, 0) }
}

func removeFile(s *scene, _ uintptr) func() {
	made := s.text("made")
	return func() { raw(unix.SYS_UNLINKAT, atCWD, made, 0) }
}
