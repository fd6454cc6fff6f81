package probe

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// progName is the name of every program that a probe loads.
const progName = "bench_probe"

// load loads the program of spec, by default the smallest possible one. That
// one is valid wherever its type is known, so a kernel that calls it invalid
// does not know the type.
func load(spec ebpf.ProgramSpec) (*ebpf.Program, error) {
	spec.Name = progName
	// The kernel requires a license compatible with the GPL for some types.
	spec.License = "Dual MIT/GPL"
	if spec.Instructions == nil {
		spec.Instructions = returns(0)
	}

	// Before Linux 5.11, programs count as locked memory. If the limit cannot
	// be raised, they may still fit in it.
	memlockErr := rlimit.RemoveMemlock()
	prog, err := ebpf.NewProgram(&spec)
	switch {
	case err == nil:
		return prog, nil
	case errors.Is(err, unix.EPERM) && lackCapabilities():
		return nil, fmt.Errorf("%s: load program: %w", spec.Type, err)
	case errors.Is(err, unix.EPERM) && memlockErr != nil:
		return nil, inconclusive(fmt.Errorf("%s: load program: %w", spec.Type, memlockErr))
	case errors.Is(err, unix.EPERM):
		// The error suspects the limit, which was raised.
		err = fmt.Errorf("load program: %w", unix.EPERM)
	}
	return nil, lackingIf(fmt.Errorf("%s: %w", spec.Type, err), unix.EINVAL, unix.E2BIG)
}

func returns(v int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R0, v),
		asm.Return(),
	}
}

// fdinfo reads the kernel's information about a program in /proc. If the kernel
// does not know a field, it is absent there, but zero in bpf_prog_info.
func fdinfo(prog *ebpf.Program) (map[string]string, error) {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", prog.FD()))
	if err != nil {
		return nil, err
	}
	return fields(string(info)), nil
}

// fields parses lines of the form "key: value" and keeps the first of each key.
func fields(text string) map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		if _, seen := m[key]; ok && !seen {
			m[key] = strings.TrimSpace(value)
		}
	}
	return m
}
