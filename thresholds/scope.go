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
	// Units are those of their own that results of other tools have.
	Units   []string
	Kernels []Kernel
	// Modes are what the kernels are run in, none where that is not known.
	Modes []bench.Mode
}

// AddUnits adds the units of a result's own.
func (s *Scope) AddUnits(r *bench.Result) {
	for _, sample := range r.Samples {
		if name := sample.Measure.Name; r.Ingested() && bench.IsCustom(name) && !slices.Contains(s.Units, name) {
			s.Units = append(s.Units, name)
		}
	}
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
		errs = append(errs, p.checkSubject("thresholds", i, t.Benchmark, t.Measure, &s))
	}
	for i, a := range p.Accept {
		errs = append(errs, p.checkSubject("accept", i, a.Benchmark, a.Measure, &s))
	}
	return errors.Join(append(errs, p.CheckKernels(s.Kernels))...)
}

func (p *Policy) checkSubject(list string, i int, glob, measure string, s *Scope) error {
	var names, drivers, there []string
	for _, b := range s.Benchmarks {
		names = append(names, b.Name)
		if !match(glob, b.Name) {
			continue
		}
		have := measuresOf(b.Driver)
		if canHave(b.Driver, measure) && (!bench.IsCustom(measure) || slices.Contains(s.Units, measure)) {
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
		of, measure, strings.Join(unique(drivers), " or "), strings.Join(append(inOrder(there), unique(s.Units)...), ", "))
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

// canHave reports whether a benchmark can have a measure in any mode: one that
// only loads its program has no more than the static ones, and one that another
// tool measured none of a kernel.
func canHave(driver, measure string) bool {
	user := measure == bench.Allocs.Name || measure == bench.HeapBytes.Name
	if bench.IsIngested(driver) || user || bench.IsCustom(measure) {
		return bench.IsIngested(driver) && (measure == bench.Latency.Name || bench.IsCustom(measure) || user && driver == bench.DriverGo)
	}
	switch driver {
	case "":
		return true // the program's type decides
	case bench.DriverVerify:
		return isStatic(measure)
	case bench.DriverTestRun:
		return measure != bench.InstructionsPath.Name
	case bench.DriverVeth:
		return !isHardware(measure) && measure != bench.Contention.Name
	}
	// What drives the others sets their rate.
	return !isHardware(measure) && measure != bench.InstructionsPath.Name && measure != bench.Throughput.Name && measure != bench.Contention.Name
}

// isOf reports whether a measure is one of a mode.
func isOf(mode bench.Mode, measure string) bool {
	return isStatic(measure) || measure == bench.BPFInsns.Name || isCounted(measure) == (mode == bench.ModeExact)
}

func isHardware(measure string) bool { return isAmong(bench.HardwareMeasures, measure) }

func isStatic(measure string) bool { return isAmong(bench.StaticMeasures, measure) }

func isAmong(measures []bench.Measure, name string) bool {
	return slices.ContainsFunc(measures, func(m bench.Measure) bool { return m.Name == name })
}

// isCounted reports whether a measure of runs is one of exact mode.
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
