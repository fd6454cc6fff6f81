package probe

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

func haveSyscall() error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.SocketFilter})
	if errors.Is(err, unix.EPERM) {
		// Anybody may load a socket filter, unless this sysctl forbids it.
		if v, readErr := os.ReadFile("/proc/sys/kernel/unprivileged_bpf_disabled"); readErr == nil {
			return fmt.Errorf("%w (kernel.unprivileged_bpf_disabled is %s)", err, strings.TrimSpace(string(v)))
		}
	}
	if err != nil {
		return lackingIf(err, unix.ENOSYS)
	}
	return prog.Close()
}

// haveJIT asks the program rather than net.core.bpf_jit_enable, which is hidden
// inside a network namespace.
func haveJIT() error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.SocketFilter})
	if err != nil {
		return err
	}
	defer prog.Close()

	info, err := fdinfo(prog)
	if err != nil {
		return err
	}
	switch jited := info["prog_jited"]; jited {
	case "1":
		return nil
	case "0":
		return lacking("programs are interpreted")
	default:
		return fmt.Errorf("prog_jited reads %q", jited)
	}
}

func haveBTF() error {
	_, err := btf.LoadKernelSpec()
	return err
}

func haveBPFFS() error {
	const dir = "/sys/fs/bpf"
	mounted, err := isMounted(dir, unix.BPF_FS_MAGIC)
	if err != nil {
		return err
	}
	if !mounted {
		return lacking("not mounted at %s", dir)
	}
	return nil
}

// isMounted reports whether the file system at dir is of the type with this
// magic number.
func isMounted(dir string, magic int64) (bool, error) {
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("statfs %s: %w", dir, err)
	}
	// The width and sign of Type differ by architecture.
	return uint32(st.Type) == uint32(magic), nil
}
