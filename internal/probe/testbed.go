package probe

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Testbed describes the machine and kernel. Unknown fields are empty or
// "unknown", because a run is useful even if /proc says little.
func Testbed() bench.Testbed {
	t := readTestbed(os.DirFS("/"))
	var uts unix.Utsname
	if err := unix.Uname(&uts); err == nil {
		t.Kernel = unix.ByteSliceToString(uts.Release[:])
		t.KernelBuild = unix.ByteSliceToString(uts.Version[:])
		t.Arch = unix.ByteSliceToString(uts.Machine[:])
	}
	if t.JIT == unknown {
		// Network namespaces hide the sysctl; programs show it.
		switch err := haveJIT(); {
		case err == nil:
			t.JIT = "on"
		case errors.Is(err, ebpf.ErrNotSupported):
			t.JIT = "off"
		}
	}
	return t
}

// unknown is the text of a field that must not be empty.
const unknown = "unknown"

// readTestbed reads the testbed from the files of a machine.
func readTestbed(root fs.FS) bench.Testbed {
	cpuinfo := readText(root, "proc/cpuinfo")
	return bench.Testbed{
		Mode:        "host",
		Kernel:      unknown,
		Arch:        unknown,
		CPU:         cpuModel(cpuinfo),
		Cores:       cores(readText(root, "sys/devices/system/cpu/online")),
		Virtual:     hypervisor(root, cpuinfo),
		JIT:         jitWords(readText(root, "proc/sys/net/core/bpf_jit_enable")),
		JITHarden:   jitHarden(readText(root, "proc/sys/net/core/bpf_jit_harden")),
		Mitigations: mitigations(root),
	}
}

// readText returns the trimmed text of a file, or "" if it cannot be read.
func readText(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// cores counts the CPUs of a list such as 0-3,8.
func cores(list string) int {
	n := 0
	for r := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(r, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA != nil || errB != nil || b < a {
			return runtime.NumCPU()
		}
		n += b - a + 1
	}
	return n
}

func jitWords(sysctl string) string {
	switch sysctl {
	case "0":
		return "off"
	case "1":
		return "on"
	case "2":
		return "on, with debug output"
	}
	return unknown
}

// jitHarden reports whether the JIT hardens every program. At 1 it hardens only
// the programs of users without CAP_BPF, which a run has.
func jitHarden(sysctl string) bool { return sysctl == "2" }

// mitigations returns, by vulnerability, the mitigations that the kernel itself
// applies.
func mitigations(root fs.FS) map[string]string {
	const dir = "sys/devices/system/cpu/vulnerabilities"
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return nil
	}
	var m map[string]string
	for _, e := range entries {
		how, ok := strings.CutPrefix(readText(root, dir+"/"+e.Name()), "Mitigation: ")
		if !ok {
			continue
		}
		if m == nil {
			m = make(map[string]string)
		}
		m[e.Name()] = how
	}
	return m
}
