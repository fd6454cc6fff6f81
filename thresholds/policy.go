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
	"path"

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
}

// Threshold bounds a measure of the benchmarks that it is for.
type Threshold struct {
	// Benchmark is a glob on benchmark names, * matching within a path
	// element; empty is every benchmark.
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
		if _, err := path.Match(t.Benchmark, ""); err != nil {
			errs = append(errs, doc.Errorf(append(at, "benchmark"), "%q is no pattern", t.Benchmark))
		}
		if t.Measure == "" {
			errs = append(errs, doc.Errorf(at, "a threshold names no measure"))
		}
		if t.Max == nil || math.IsNaN(*t.Max) || math.IsInf(*t.Max, 0) {
			errs = append(errs, doc.Errorf(append(at, "max"), "a threshold has no max that is a number"))
		}
	}
	return &p, errors.Join(errs...)
}

// Judge lists the thresholds that the run crosses, in the order of its
// results.
func (p *Policy) Judge(run *bench.Run) []Alert {
	var alerts []Alert
	for _, r := range run.Results {
		for _, s := range r.Samples {
			for _, t := range p.Thresholds {
				if !t.matches(r.Benchmark, s.Measure.Name) || len(s.Values) == 0 {
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

func (t *Threshold) matches(benchmark, measure string) bool {
	if t.Measure != measure {
		return false
	}
	ok, _ := path.Match(t.Benchmark, benchmark)
	return ok || t.Benchmark == ""
}
