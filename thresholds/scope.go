package thresholds

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Scope is what is measured, as far as that is known before it is.
type Scope struct {
	// Benchmarks are all of the suite, also those that a filter leaves out.
	Benchmarks []Benchmark
	Kernels    []Kernel
	// Modes are what the kernels are run in, none where that is not known.
	Modes []bench.Mode
}

// Benchmark is a benchmark by its name and what drives it.
type Benchmark struct{ Name, Driver string }

// Check refuses what would never do anything: a threshold or an acceptance that
// is for no benchmark, for no kernel, or for a measure that no benchmark has in any
// mode: one file may be for all modes.
func (p *Policy) Check(s Scope) error {
	p.asked = s.Modes
	var errs []error
	for i := range p.Thresholds {
		t := &p.Thresholds[i]
		errs = append(errs, p.checkSubject("thresholds", i, t.Benchmark, t.Measure, s.Benchmarks))
	}
	for i, a := range p.Accept {
		errs = append(errs, p.checkSubject("accept", i, a.Benchmark, a.Measure, s.Benchmarks))
	}
	return errors.Join(append(errs, p.CheckKernels(s.Kernels))...)
}

func (p *Policy) checkSubject(list string, i int, glob, measure string, benchmarks []Benchmark) error {
	var names, drivers, there []string
	for _, b := range benchmarks {
		names = append(names, b.Name)
		if !match(glob, b.Name) {
			continue
		}
		have := measuresOf(b.Driver)
		if slices.Contains(have, measure) {
			return nil
		}
		drivers, there = append(drivers, b.Driver), append(there, have...)
	}
	if len(drivers) == 0 {
		return p.doc.Errorf([]any{list, i, "benchmark"}, "no benchmark matches %q: there are %s", glob, strings.Join(names, ", "))
	}
	of := ""
	if glob != "" {
		of = fmt.Sprintf(" that matches %q", glob)
	}
	return p.doc.Errorf([]any{list, i, "measure"}, "no benchmark%s can have %s, driven by %s: there are %s",
		of, measure, strings.Join(unique(drivers), " or "), strings.Join(inOrder(there), ", "))
}

// measuresOf are the names of the measures that a benchmark can have in any mode.
func measuresOf(driver string) []string {
	var all []string
	for _, m := range bench.Measures() {
		if canHave(driver, m) {
			all = append(all, m)
		}
	}
	return all
}

// canHave tells whether a benchmark can have a measure in any mode: one that
// only loads its program has no more than the static ones.
func canHave(driver, measure string) bool {
	switch driver {
	case "verify":
		return isStatic(measure)
	case "test_run":
		return measure != bench.InstructionsPath.Name
	case "perf_event":
		return measure != bench.InstructionsPath.Name && measure != bench.Throughput.Name
	}
	return true
}

// isOf tells whether a measure is one of a mode.
func isOf(mode bench.Mode, measure string) bool {
	return isStatic(measure) || measure == bench.BPFInsns.Name || isCounted(measure) == (mode == bench.ModeExact)
}

func isStatic(measure string) bool {
	return slices.ContainsFunc(bench.StaticMeasures, func(m bench.Measure) bool { return m.Name == measure })
}

// isCounted tells whether a measure of runs is one of exact mode.
func isCounted(measure string) bool {
	return measure == bench.Instructions.Name || strings.HasPrefix(measure, bench.Instructions.Name+"-")
}

// notMeasured says why a run has no values of a measure, where its mode is why.
func notMeasured(mode bench.Mode, measure string) string {
	switch {
	case mode == "" || isOf(mode, measure):
		return "not measured"
	case mode == bench.ModeExact:
		return "not measured: in exact mode instructions are counted, and nothing is timed"
	}
	return fmt.Sprintf("not measured: in %s mode runs are timed, and no instructions counted", mode)
}

func unique(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

// inOrder are these measures in the order of reports, each once.
func inOrder(measures []string) []string {
	return slices.DeleteFunc(bench.Measures(), func(m string) bool { return !slices.Contains(measures, m) })
}
