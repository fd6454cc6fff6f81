package thresholds

import (
	"fmt"
	"maps"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// foreign says what keeps the stored numbers of the base from being compared
// with those of the head, empty where nothing does. Exact measures depend on
// the kernel and its settings, timed ones on the machine too.
func (j *judgement) foreign(m bench.Measure) string {
	if j.comparison.BaseTestbed == nil {
		return ""
	}
	b, h := j.comparison.BaseTestbed, &j.comparison.Testbed
	differences := []struct {
		what       string
		base, head any
		timed      bool
	}{
		{"mode", b.Mode, h.Mode, false},
		{"kernel", b.Kernel, h.Kernel, false},
		{"kernel build", b.KernelBuild, h.KernelBuild, false},
		{"architecture", b.Arch, h.Arch, false},
		{"JIT", b.JIT, h.JIT, false},
		{"JIT hardening", b.JITHarden, h.JITHarden, false},
		{"CPU", b.CPU, h.CPU, true},
		{"number of cores", b.Cores, h.Cores, true},
		{"hypervisor", b.Virtual, h.Virtual, true},
		{"QEMU", b.QEMU, h.QEMU, true},
	}
	for _, d := range differences {
		if d.base != d.head && (!d.timed || !m.Exact) {
			return fmt.Sprintf("%s %v, not %v", d.what, d.base, d.head)
		}
	}
	// Retpolines and the like are code that the JIT adds.
	if !maps.Equal(b.Mitigations, h.Mitigations) {
		return "other CPU vulnerabilities are mitigated"
	}
	return ""
}
