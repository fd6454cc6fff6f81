package baseline

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// Key returns 16 hex digits that are equal for testbeds whose numbers may be compared.
//
// It always depends on
//   - the mode, because instructions are not nanoseconds and KVM is not a host,
//   - the architecture, because the JIT makes other machine code for it,
//   - the kernel's release and build, because helpers, the JIT and the cost of
//     counting are the kernel's, and a distribution rebuilds one release,
//   - the CPU model: what it does in a nanosecond or, where it is emulated,
//     which instructions the kernel picks for it.
//
// If time is measured, it also depends on
//   - the number of cores, because maps and neighbours share caches with them,
//   - the JIT and its hardening: both change the machine code,
//   - the mitigations: a retpoline makes every tail call and helper dearer.
//
// If instructions are counted, it also depends on the version of QEMU, which counts them.
// The host does not matter then, so every machine gives the same key.
func Key(t bench.Testbed) string {
	part := bench.Testbed{Mode: t.Mode, Arch: t.Arch, Kernel: t.Kernel, KernelBuild: t.KernelBuild, CPU: t.CPU}
	if t.Mode == bench.ModeExact {
		part.QEMU = t.QEMU
	} else {
		part.Cores, part.JIT, part.JITHarden = t.Cores, t.JIT, t.JITHarden
		part.Mitigations = t.Mitigations
	}
	// Every field is text, a number or a sorted map, so this cannot fail. The fields are
	// listed so that a new one in bench.Testbed changes no key.
	text, _ := json.Marshal([]any{
		part.Mode, part.Arch, part.Kernel, part.KernelBuild, part.CPU,
		part.QEMU, part.Cores, part.JIT, part.JITHarden, mitigations(part.Mitigations),
	})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// mitigations returns nil for an empty map.
func mitigations(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

// Machine describes a testbed in a few words.
func Machine(t bench.Testbed) string {
	if t.Mode == bench.ModeExact {
		return escape.Printable(fmt.Sprintf("%s, %s, QEMU %s", modeAndKernel(t.Mode, t.Kernel), t.Arch, t.QEMU))
	}
	return escape.Printable(fmt.Sprintf("%s, %s, %s, %d cores", modeAndKernel(t.Mode, t.Kernel), t.Arch, t.CPU, t.Cores))
}

func modeAndKernel(mode bench.Mode, kernel string) string {
	return fmt.Sprintf("%s, Linux %s", cmp.Or(mode, bench.ModeHost), kernel)
}

// IsOn reports whether the run was measured in a mode on a kernel with that release, which
// is all that is known about a testbed before its machine has booted.
func (m *Meta) IsOn(mode bench.Mode, kernel string) bool {
	return strings.HasPrefix(m.Machine, escape.Printable(modeAndKernel(mode, kernel))+", ")
}
