package thresholds

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// validate sets the defaults of thresholds and reports every mistake with its line.
func (p *Policy) validate() error {
	var errs []error
	if p.Version != Version {
		errs = append(errs, p.doc.Errorf([]any{"version"}, "version must be %d", Version))
	}
	for i := range p.Thresholds {
		errs = append(errs, p.validateThreshold(i)...)
	}
	for i := range p.Accept {
		errs = append(errs, p.validateAccept(i)...)
	}
	return errors.Join(errs...)
}

func (p *Policy) validateThreshold(i int) (errs []error) {
	t := &p.Thresholds[i]
	fail := func(key, format string, args ...any) {
		errs = append(errs, p.doc.Errorf([]any{"thresholds", i, key}, format, args...))
	}
	if msg := unknownMeasure(t.Measure); msg != "" {
		fail("measure", "%s", msg)
	}
	if msg := checkMode(t); msg != "" {
		fail("mode", "%s", msg)
	}
	if t.Percent != nil && (!finite(*t.Percent) || *t.Percent < 0) {
		fail("percent", "percent is not a number from 0 up")
	}
	if t.Absolute != nil && (!finite(*t.Absolute) || *t.Absolute < 0) {
		fail("absolute", "absolute is not a number from 0 up")
	}
	if key, msg := t.checkBudget(); msg != "" {
		fail(key, "%s", msg)
	}
	if t.Confidence == 0 && !p.doc.Has("thresholds", i, "confidence") {
		t.Confidence = DefaultConfidence
	}
	if !(t.Confidence >= 0.5 && t.Confidence < 1) {
		fail("confidence", "confidence is a probability from 0.5 to below 1, such as %g", DefaultConfidence)
	}
	if t.Direction == "" {
		t.Direction = Worse
	}
	if t.Severity == "" {
		t.Severity = Fail
	}
	if t.History != nil {
		p.validateHistory(t, fail)
	}
	if !t.hasBudget() && t.History == nil && !t.bounds() {
		fail("measure", "a threshold has percent, absolute, max, min or history, or severity: ignore")
	}
	return errs
}

func (p *Policy) validateHistory(t *Threshold, fail func(key, format string, args ...any)) {
	h := t.History
	h.fill()
	if !slices.Contains(stat.Detectors(), h.Test) {
		fail("history", "unknown test %q%s: it is one of %s", h.Test, strictyaml.DidYouMean(string(h.Test), tests()), strings.Join(tests(), ", "))
		return
	}
	if h.Boundary == nil {
		fail("history", "%s needs a boundary", h.Test)
	} else if err := h.Test.CheckBoundary(*h.Boundary); err != nil {
		fail("history", "%s", err)
	}
	if h.MinRuns < 2 || h.Runs < h.MinRuns {
		fail("history", "min_runs is at least 2 and at most runs")
	}
	if h.Test == stat.Static && t.Direction == Both {
		fail("history", "static has one limit, so direction cannot be both")
	}
}

func (p *Policy) validateAccept(i int) (errs []error) {
	a := p.Accept[i]
	fail := func(key, format string, args ...any) {
		errs = append(errs, p.doc.Errorf([]any{"accept", i, key}, format, args...))
	}
	if msg := unknownMeasure(a.Measure); msg != "" {
		fail("measure", "%s", msg)
	}
	for _, field := range []struct {
		key     string
		missing bool
	}{
		{"benchmark", a.Benchmark == ""}, {"up_to", a.UpTo.Value == 0}, {"until", a.Until.IsZero()}, {"reason", strings.TrimSpace(a.Reason) == ""},
	} {
		if field.missing {
			fail(field.key, "an accepted regression has no %s", field.key)
		}
	}
	return errs
}

// unknownMeasure returns what is wrong with the name of a measure, if anything. A name
// that does not look like a misspelled measure may be a unit from another tool: see Check.
func unknownMeasure(name string) string {
	meant := strictyaml.DidYouMean(name, bench.Measures())
	switch {
	case name == "":
		return "measure is missing: it is one of " + strings.Join(bench.Measures(), ", ")
	case !bench.IsCustom(name), meant == "", strings.Contains(name, "/"):
		return ""
	}
	return fmt.Sprintf("unknown measure %q%s: it is one of %s, or a unit of a result's own, such as records/op", name,
		meant, strings.Join(bench.Measures(), ", "))
}

var modes = []bench.Mode{bench.ModeHost, bench.ModeExact, bench.ModeKVM}

// checkMode returns what is wrong with the mode of a threshold, if anything.
func checkMode(t *Threshold) string {
	switch {
	case t.Mode == "":
	case !slices.Contains(modes, t.Mode):
		return fmt.Sprintf("unknown mode %q: it is host, exact or kvm", t.Mode)
	case slices.Contains(bench.Measures(), t.Measure) && !t.Mode.Measures(t.Measure):
		return fmt.Sprintf("%s mode does not measure %s", t.Mode, t.Measure)
	}
	return ""
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
