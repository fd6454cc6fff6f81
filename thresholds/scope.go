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
		if bench.CanMeasure(b.Driver, measure) && (!bench.IsCustom(measure) || slices.Contains(s.Units, measure)) {
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
	return slices.DeleteFunc(bench.Measures(), func(m string) bool { return !bench.CanMeasure(driver, m) })
}

// notMeasured returns that a run has no values of a measure, and why if its mode is the
// reason.
func notMeasured(mode bench.Mode, measure string) string {
	switch {
	case mode == "" || mode.Measures(measure):
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
