// Package thresholds holds the policy by which a run is judged: the YAML that
// people write and the code that applies it. It judges result files and
// measures nothing, so it needs no kernel and no privileges.
package thresholds

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// Version is the version of the policy file that this package reads.
const Version = 1

// Policy is a validated policy file.
type Policy struct {
	Version    int         `yaml:"version"`
	Thresholds []Threshold `yaml:"thresholds"`

	doc *strictyaml.Doc
}

// Threshold bounds a measure of the benchmarks that it is for.
type Threshold struct {
	// Benchmark is a glob on benchmark names: * stands for any characters,
	// ? for one. Empty is every benchmark.
	Benchmark string `yaml:"benchmark"`
	// Measure is the name of a measure, such as latency.
	Measure string `yaml:"measure"`
	// Max is a hard budget on the median, in the measure's unit.
	Max *float64 `yaml:"max"`
}

// Alert is a threshold that was crossed.
type Alert struct {
	Benchmark string
	Measure   bench.Measure
	// Value is the median, Max what it must not exceed, both in the measure's
	// unit.
	Value, Max float64
}

//go:embed defaults.yml
var defaults []byte

// Default is the policy that holds where no file says otherwise.
func Default() *Policy {
	p, err := read("defaults.yml", defaults)
	if err != nil {
		panic(fmt.Sprintf("the built-in policy is broken: %v", err))
	}
	return p
}

// Load reads a policy file. Problems are *strictyaml.Error, joined.
func Load(fsys fs.FS, name string) (*Policy, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("read thresholds: %w", err)
	}
	return read(name, text)
}

func read(name string, text []byte) (*Policy, error) {
	var p Policy
	doc, err := strictyaml.Read(name, text, &p)
	if err != nil {
		return nil, err
	}
	var errs []error
	if p.Version != Version {
		errs = append(errs, doc.Errorf([]any{"version"}, "version must be %d", Version))
	}
	for i, t := range p.Thresholds {
		at := []any{"thresholds", i}
		if !slices.Contains(bench.Measures(), t.Measure) {
			errs = append(errs, doc.Errorf(append(at, "measure"), "unknown measure %q%s: it is one of %s", t.Measure,
				strictyaml.DidYouMean(t.Measure, bench.Measures()), strings.Join(bench.Measures(), ", ")))
		}
		if t.Max == nil || math.IsNaN(*t.Max) || math.IsInf(*t.Max, 0) {
			errs = append(errs, doc.Errorf(append(at, "max"), "a threshold has no max that is a number"))
		}
	}
	p.doc = doc
	return &p, errors.Join(errs...)
}

// Check refuses a threshold that is for none of the benchmarks: it would never
// raise an alert.
func (p *Policy) Check(benchmarks []string) error {
	var errs []error
	for i, t := range p.Thresholds {
		if !slices.ContainsFunc(benchmarks, t.isFor) {
			errs = append(errs, p.doc.Errorf([]any{"thresholds", i, "benchmark"}, "no benchmark matches %q: there are %s",
				t.Benchmark, strings.Join(benchmarks, ", ")))
		}
	}
	return errors.Join(errs...)
}

// Judge lists the thresholds that the run crosses, in the order of its
// results.
func (p *Policy) Judge(run *bench.Run) []Alert {
	var alerts []Alert
	for _, r := range run.Results {
		for _, s := range r.Samples {
			for _, t := range p.Thresholds {
				if t.Measure != s.Measure.Name || !t.isFor(r.Benchmark) || len(s.Values) == 0 {
					continue
				}
				if v := stat.Summarize(s).Center; v > *t.Max {
					alerts = append(alerts, Alert{r.Benchmark, s.Measure, v, *t.Max})
				}
			}
		}
	}
	return alerts
}

// Unjudged lists, as benchmark and measure, what the policy bounds and the run
// has no values of: a gate that could not be applied has not been passed.
func (p *Policy) Unjudged(run *bench.Run) []string {
	var all []string
	for i := range run.Results {
		r := &run.Results[i]
		for _, t := range p.Thresholds {
			if s := r.Sample(t.Measure); t.isFor(r.Benchmark) && (s == nil || len(s.Values) == 0) {
				all = append(all, r.Benchmark+": "+t.Measure)
			}
		}
	}
	return all
}

// isFor tells whether the threshold is for a benchmark.
func (t Threshold) isFor(benchmark string) bool {
	if t.Benchmark == "" {
		return true
	}
	pattern := regexp.QuoteMeta(t.Benchmark)
	pattern = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(pattern)
	ok, _ := regexp.MatchString("^(?s:"+pattern+")$", benchmark)
	return ok
}
