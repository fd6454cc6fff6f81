package load

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// Answer fills in what programs ask of the kernel: its settings (__kconfig) and
// its variables (__ksym).
func Answer(spec *ebpf.CollectionSpec) error {
	if err := answerKconfig(spec); err != nil {
		return err
	}
	return answerKsyms(spec)
}

// answerKconfig fills the maps in which programs find the kernel's settings, one
// per object. Like libbpf, it takes values that it knows itself, and the
// kernel's configuration.
func answerKconfig(spec *ebpf.CollectionSpec) error {
	for name, table := range spec.Maps {
		if name != object.Kconfig && !strings.HasPrefix(name, object.Kconfig+object.Of) {
			continue
		}
		if err := answerAll(spec, name, table); err != nil {
			return err
		}
	}
	return nil
}

func answerAll(spec *ebpf.CollectionSpec, name string, table *ebpf.MapSpec) error {
	variables, ok := table.Value.(*btf.Datasec)
	if !ok {
		return nil // already answered
	}
	used := map[uint32]bool{}
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			if ins := &p.Instructions[i]; ins.Reference() == name {
				used[uint32(uint64(ins.Constant)>>32)] = true
			}
		}
	}
	values := make([]byte, table.ValueSize)
	for _, at := range variables.Vars {
		v, ok := at.Type.(*btf.Var)
		if !ok || !used[at.Offset] || uint64(at.Offset)+uint64(at.Size) > uint64(len(values)) {
			continue
		}
		text, err := answer(v)
		if err == nil && text != "" {
			err = encodeSetting(values[at.Offset:][:at.Size], v.Type, text)
		}
		if err != nil {
			return bench.WithHint(&classed{classLacks, fmt.Errorf("it asks for %s (__kconfig): %w", v.Name, err)}, bench.Hint(err))
		}
	}
	table.Value = nil
	table.Contents = []ebpf.MapKV{{Key: uint32(0), Value: values}}
	return nil
}

// answer returns the value of a variable, spelled as in the kernel's
// configuration. It returns "" if the kernel has none and the object can do
// without.
func answer(v *btf.Var) (string, error) {
	weak := len(v.Tags) > 0 && v.Tags[0] == object.Weak
	yes := func(is bool) string { return map[bool]string{true: "1", false: "0"}[is] }
	switch v.Name {
	case "LINUX_KERNEL_VERSION":
		version, err := features.LinuxVersionCode()
		return strconv.FormatUint(uint64(version), 10), err
	case "LINUX_HAS_BPF_COOKIE":
		return yes(host.HaveCookies()), nil
	case "LINUX_HAS_SYSCALL_WRAPPER":
		// These have had it for longer than programs can be measured.
		return yes(runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"), nil
	}
	if !strings.HasPrefix(v.Name, "CONFIG_") {
		if weak {
			return "", nil
		}
		return "", errors.New("nobody knows what that is")
	}
	settings, err := probe.Config()
	if errors.Is(err, fs.ErrNotExist) {
		return "", bench.WithHint(errors.New("this machine does not have its kernel's settings"), "they are in /proc/config.gz or /boot/config-RELEASE where there are any")
	}
	if err != nil {
		return "", err
	}
	text, ok := settings[v.Name]
	if !ok && !weak {
		return "", bench.WithHint(errors.New("this kernel has no such setting, or has it not set"), hintWeak)
	}
	return text, nil
}

// encodeSetting writes a setting into a variable of type t: y, m or n, a string
// in quotes, or a number.
func encodeSetting(to []byte, t btf.Type, text string) error {
	tristate := slices.Index([]string{"n", "y", "m"}, text)
	var value []byte
	err := fmt.Errorf("it is %s, which its type cannot hold", text)
	switch t := btf.UnderlyingType(t).(type) {
	case *btf.Array: // of characters, terminated by a zero
		if s, bad := strconv.Unquote(text); bad == nil && len(to) > 0 {
			value, err = []byte(s)[:min(len(s), len(to)-1)], nil
		}
	case *btf.Enum:
		if tristate >= 0 {
			value, err = bpfmap.EncodeInt(uint64(tristate), false, len(to))
		}
	case *btf.Int:
		isBool := t.Encoding == btf.Bool
		switch {
		case tristate < 0:
			n, bad := strconv.ParseInt(text, 0, 64)
			if bad == nil && (!isBool || n == 0 || n == 1) {
				value, err = bpfmap.EncodeInt(uint64(n), n < 0, len(to))
			} else if n, bad := strconv.ParseUint(text, 0, 64); bad == nil && !isBool {
				value, err = bpfmap.EncodeInt(n, false, len(to))
			}
		case isBool && text != "m":
			value, err = bpfmap.EncodeInt(uint64(tristate), false, len(to))
		case !isBool && len(to) == 1: // a character
			value, err = []byte(text), nil
		}
	}
	copy(to, value)
	return err
}
