package measure

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// The base for objects is a run on the testbed where they are measured; that for numbers,
// one on the testbed where these were measured.
func TestNearestRun(t *testing.T) {
	here, there := probe.Testbed(), probe.Testbed()
	there.CPU += ", another"
	counted := bench.Testbed{Mode: bench.ModeExact, Kernel: here.Kernel, Arch: "x86_64", QEMU: "10.0"}
	metas := map[string]baseline.Meta{}
	for name, testbed := range map[string]bench.Testbed{"here": here, "there": there, "counted": counted} {
		metas[name] = baseline.Meta{Testbed: baseline.Key(testbed), Machine: baseline.Machine(testbed)}
	}
	objects := []suite.Object{{Path: "a.o"}}
	for _, c := range []struct {
		name  string
		flags fleet.Machines
		head  sides.Side
		want  string
	}{
		{"objects", fleet.Machines{}, sides.Side{Objects: objects}, "here"},
		{"a stored run with objects", fleet.Machines{}, sides.Side{Objects: objects, Runs: []*bench.Run{{Testbed: there}}}, "here"},
		{"numbers", fleet.Machines{}, sides.Side{Runs: []*bench.Run{{Testbed: there}}}, "there"},
		{"a kernel of the flags", fleet.Machines{Kernels: []string{"host"}}, sides.Side{Objects: objects}, "counted"},
		{"a kernel of the suite", fleet.Machines{}, sides.Side{Objects: objects, Suite: &suite.Suite{Kernels: []string{"host"}}}, "counted"},
	} {
		near := Nearest(&c.head, "", &c.flags)
		for name, m := range metas {
			if near(m) != (name == c.want) {
				t.Errorf("%s: the run of %s is near: %v", c.name, name, near(m))
			}
		}
	}
}
