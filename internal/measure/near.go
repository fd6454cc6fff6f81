package measure

import (
	"path/filepath"
	"slices"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Nearest returns a function that reports whether a stored run is from the testbed that a
// head is measured on, or was: the newest of these is its base. It looks at the machine on
// the first call.
func Nearest(head *sides.Side, suiteFile string, machines *fleet.Machines) func(baseline.Meta) bool {
	var near func(baseline.Meta) bool
	asked := false
	return func(m baseline.Meta) bool {
		if !asked {
			near, asked = nearTo(head, suiteFile, machines), true
		}
		return near != nil && near(m)
	}
}

// nearTo is Nearest, but looks at the machine at once. It returns nil if the kernels to
// measure on are unknown.
func nearTo(head *sides.Side, suiteFile string, machines *fleet.Machines) func(baseline.Meta) bool {
	if head.Objects == nil {
		var keys []string
		for _, run := range head.Runs {
			keys = append(keys, baseline.Key(run.Testbed))
		}
		return func(m baseline.Meta) bool { return slices.Contains(keys, m.Testbed) }
	}
	s := head.Suite
	if suiteFile != "" {
		// Errors are reported when the suite is read for measuring.
		s, _ = suite.Load(suite.OS, filepath.ToSlash(suiteFile))
	}
	var inSuite []string
	if s != nil {
		inSuite = s.Kernels
	}
	if len(machines.Choose(inSuite)) == 0 {
		here := probe.Testbed()
		here.Mode = bench.ModeHost
		key := baseline.Key(here)
		return func(m baseline.Meta) bool { return m.Testbed == key }
	}
	scope, err := Scope(machines, inSuite)
	if err != nil {
		return nil
	}
	// The rest of the testbed is known only after the kernel has booted.
	return func(m baseline.Meta) bool {
		return slices.ContainsFunc(scope.Kernels, func(k thresholds.Kernel) bool {
			return k.Release != "" && m.IsOn(scope.Modes[0], k.Release)
		})
	}
}
