package guest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Mounts are the file systems needed for measuring.
var Mounts = []struct{ FS, Dir, Options string }{
	{"devtmpfs", "/dev", ""},
	{"proc", "/proc", ""},
	{"sysfs", "/sys", ""},
	{"bpf", "/sys/fs/bpf", ""},
	{"cgroup2", "/sys/fs/cgroup", ""},
	{"tracefs", "/sys/kernel/tracing", ""},
	{"debugfs", "/sys/kernel/debug", ""},
	{"securityfs", "/sys/kernel/security", ""},
	{"tmpfs", "/tmp", "size=25%"},
}

// mountAll mounts those that the kernel supports. Only the device nodes are
// essential, because one of them is the port.
func mountAll() (warnings []string, err error) {
	for _, m := range Mounts {
		_ = os.MkdirAll(m.Dir, 0o755) // those in /sys are there if the kernel has them
		err := unix.Mount(m.FS, m.Dir, m.FS, 0, m.Options)
		switch {
		case err == nil || errors.Is(err, unix.EBUSY):
		case m.Dir == "/dev":
			return nil, fmt.Errorf("mount %s: %w", m.FS, err)
		default:
			warnings = append(warnings, fmt.Sprintf("mount %s: %s", m.FS, err))
		}
	}
	return warnings, nil
}

// loadModules loads modules in order, and frees their files.
func loadModules(files []string) (warnings []string) {
	for _, file := range files {
		if err := loadModule(file); err != nil {
			name := strings.TrimSuffix(path.Base(file), ".ko")
			warnings = append(warnings, fmt.Sprintf("load module %s: %s", name, err))
		}
	}
	return warnings
}

func loadModule(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	defer os.Remove(file)
	err = unix.FinitModule(int(f.Fd()), "", 0)
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

func introduce(warnings []string) Hello {
	var name unix.Utsname
	_ = unix.Uname(&name) // fails only for a bad address
	return Hello{
		Release:  unix.ByteSliceToString(name.Release[:]),
		Build:    unix.ByteSliceToString(name.Version[:]),
		CPU:      fieldOf("/proc/cpuinfo", "model name\t:"),
		Warnings: warnings,
	}
}

// oomKills returns how many processes the kernel has killed for lack of memory.
func oomKills() int {
	n, _ := strconv.Atoi(fieldOf("/proc/vmstat", "oom_kill "))
	return n
}

// fieldOf returns what follows a key in one of the kernel's files.
func fieldOf(file, key string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
