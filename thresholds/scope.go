package thresholds

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// Scope describes what will be measured, as far as that is known in advance.
type Scope struct {
	// Benchmarks are all benchmarks in the suite, including those that a filter leaves
	// out.
	Benchmarks []Benchmark
	// Units are the custom units in results of other tools.
	Units   []string
	Kernels []Kernel
	// Modes are the modes that the kernels are run in, empty if unknown.
	Modes []bench.Mode
}

// AddUnits adds the custom units of a result.
func (s *Scope) AddUnits(r *bench.Result) {
	for _, sample := range r.Samples {
		if name := sample.Measure.Name; r.Ingested() && bench.IsCustom(name) && !slices.Contains(s.Units, name) {
			s.Units = append(s.Units, name)
		}
	}
}

// Benchmark is the name and the driver of a benchmark.
type Benchmark struct{ Name, Driver string }

// Check refuses a threshold or an acceptance that would never apply: to no benchmark, to
// no kernel, or to a measure that no benchmark has in any mode. One file may be for all
// modes.
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
	var names, drivers, present []string
	for _, b := range s.Benchmarks {
		names = append(names, b.Name)
		if !match(glob, b.Name) {
			continue
		}
		have := measuresOf(b.Driver)
		if canHave(b.Driver, measure) && (!bench.IsCustom(measure) || slices.Contains(s.Units, measure)) {
			return nil
		}
		drivers, present = append(drivers, b.Driver), append(present, have...)
	}
	if len(drivers) == 0 {
		return p.doc.Errorf([]any{list, i, "benchmark"}, "no benchmark matches %q: there are %s", glob, strings.Join(names, ", "))
	}
	of := ""
	if glob != "" {
		of = fmt.Sprintf(" that matches %q", glob)
	}
	return p.doc.Errorf([]any{list, i, "measure"}, "no benchmark%s can have %s, driven by %s: there are %s",
		of, measure, strings.Join(unique(drivers), " or "), strings.Join(append(inOrder(present), unique(s.Units)...), ", "))
}

// measuresOf returns the names of the measures that a benchmark can have in any mode.
func measuresOf(driver string) []string {
	var all []string
	for _, m := range bench.Measures() {
		if canHave(driver, m) {
			all = append(all, m)
		}
	}
	return all
}

// canHave reports whether a benchmark can have a measure in any mode. One that only loads
// its program has only the static measures, and one that another tool measured has none of
// the kernel's.
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
	// The drivers of the others set the rate.
	return !isHardware(measure) && measure != bench.InstructionsPath.Name && measure != bench.Throughput.Name && measure != bench.Contention.Name
}

// isOf reports whether a measure belongs to a mode.
func isOf(mode bench.Mode, measure string) bool {
	return isStatic(measure) || isBPF(measure) || isCounted(measure) == (mode == bench.ModeExact)
}

func isHardware(measure string) bool { return isAmong(bench.HardwareMeasures, measure) }

func isBPF(measure string) bool { return isAmong(bench.BPFMeasures, measure) }

func isStatic(measure string) bool { return isAmong(bench.StaticMeasures, measure) }

func isAmong(measures []bench.Measure, name string) bool {
	return slices.ContainsFunc(measures, func(m bench.Measure) bool { return m.Name == name })
}

// isCounted reports whether a measure of runs belongs to exact mode.
func isCounted(measure string) bool {
	return measure == bench.Instructions.Name || strings.HasPrefix(measure, bench.Instructions.Name+"-")
}

// notMeasured returns that a run has no values of a measure, and why if its mode is the
// reason.
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

// inOrder returns these measures in the order of reports, each once.
func inOrder(measures []string) []string {
	return slices.DeleteFunc(bench.Measures(), func(m string) bool { return !slices.Contains(measures, m) })
}
