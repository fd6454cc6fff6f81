package baseline

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestIsOn(t *testing.T) {
	host := bench.Testbed{Mode: bench.ModeHost, Kernel: "6.18.5", Arch: "x86_64", CPU: "Some CPU", Cores: 2}
	exact := host
	exact.Mode, exact.Kernel, exact.QEMU = bench.ModeExact, "6.12", "10.0"
	m := Meta{Machine: Machine(exact)}
	for _, c := range []struct {
		mode   bench.Mode
		kernel string
		want   bool
	}{
		{bench.ModeExact, "6.12", true},
		{bench.ModeExact, "6.1", false},
		{bench.ModeKVM, "6.12", false},
		{"", "6.12", false},
	} {
		if got := m.IsOn(c.mode, c.kernel); got != c.want {
			t.Errorf("%s is of %s mode on %s: %v", m.Machine, c.mode, c.kernel, got)
		}
	}
	if m := (Meta{Machine: Machine(host)}); !m.IsOn(bench.ModeHost, "6.18.5") {
		t.Errorf("%s is of no host", m.Machine)
	}
}
