package thresholds

import (
	"fmt"
	"maps"
)

// foreign says why the stored numbers of the base cannot be compared with those of the
// head, or returns an empty string. Counts depend on the whole testbed too: on the
// instructions that the JIT finds in the CPU, on how the emulator makes a clock, and the
// memory of a map on the number of cores.
func (j *judgement) foreign() string {
	if j.comparison.BaseTestbed == nil {
		return ""
	}
	b, h := j.comparison.BaseTestbed, &j.comparison.Testbed
	differences := []struct {
		what       string
		base, head any
	}{
		{"mode", b.Mode, h.Mode},
		{"kernel", b.Kernel, h.Kernel},
		{"kernel build", b.KernelBuild, h.KernelBuild},
		{"architecture", b.Arch, h.Arch},
		{"QEMU", b.QEMU, h.QEMU},
		{"CPU", b.CPU, h.CPU},
		{"number of cores", b.Cores, h.Cores},
		{"hypervisor", b.Virtual, h.Virtual},
		{"JIT", b.JIT, h.JIT},
		{"JIT hardening", b.JITHarden, h.JITHarden},
	}
	for _, d := range differences {
		if d.base != d.head {
			return fmt.Sprintf("%s %v, not %v", d.what, d.base, d.head)
		}
	}
	// Mitigations such as retpolines are code that the JIT adds.
	if !maps.Equal(b.Mitigations, h.Mitigations) {
		return "other CPU vulnerabilities are mitigated"
	}
	return ""
}
