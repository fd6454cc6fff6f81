// Package thresholds holds the policy that judges runs and comparisons: the YAML that
// people write and the code that applies it. It judges result files and measures nothing,
// so it needs no kernel and no privileges.
package thresholds

import (
	_ "embed"
	"fmt"
	"io/fs"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// Version is the version of the policy file that this package reads.
const Version = 1

// Policy is a validated policy file. The built-in policy fills in what it leaves out.
type Policy struct {
	Version    int         `yaml:"version"`
	Thresholds []Threshold `yaml:"thresholds"`
	Accept     []Accept    `yaml:"accept"`
	// Removed says what follows from a benchmark that the head does not have any more.
	Removed Removal `yaml:"removed"`

	// builtin are the thresholds that apply if none above does.
	builtin []Threshold
	// asked are the requested modes, empty if unknown.
	asked []bench.Mode
	doc   *strictyaml.Doc
}

// Threshold bounds a measure of the benchmarks that it applies to. It bounds in up to
// three ways. If several thresholds apply to the same measure of the same benchmark, each
// way has its own rule:
//
//   - how much the measure may grow from base to head (percent, absolute): the
//     last such threshold wins, as a whole;
//   - how far a value may be from earlier ones (history): the last one wins too,
//     and counts beside the first way;
//   - how large it may be (max), or how small where more is better (min): all
//     of them must hold.
type Threshold struct {
	// Benchmark is a glob on benchmark names: * matches any characters, ? one. Empty is
	// every benchmark.
	Benchmark string `yaml:"benchmark"`
	// Measure is the name of a measure, such as latency.
	Measure string `yaml:"measure"`
	// Kernel is such a glob on the testbed's kernel release, or a whole beginning of it,
	// such as 6.1, or the name that selected the kernel. Empty is every kernel.
	Kernel string `yaml:"kernel"`
	// Mode is how the kernel is run. Empty is every mode.
	Mode bench.Mode `yaml:"mode"`
	// Percent of the base and Absolute, in the measure's unit, must both be exceeded by a
	// change for the worse to make it a regression: a growth up to the larger of the two
	// is allowed. An absent one is 0.
	Percent  *float64 `yaml:"percent"`
	Absolute *float64 `yaml:"absolute"`
	// Max is a hard budget on the median, in the measure's unit. A measure where more is
	// better, throughput, has Min instead.
	Max *float64 `yaml:"max"`
	Min *float64 `yaml:"min"`
	// Confidence is 1-α: a timed change is significant if its p-value is at
	// most α after Holm's correction over the suite. Its interval has this
	// confidence too. 0 is DefaultConfidence.
	Confidence float64 `yaml:"confidence"`
	// Direction says which changes are regressions.
	Direction Direction `yaml:"direction"`
	// Severity is the consequence of a regression.
	Severity Severity `yaml:"severity"`
	// History bounds a value by the earlier stored ones.
	History *History `yaml:"history"`
}

// DefaultConfidence is the confidence of thresholds that set none.
const DefaultConfidence = 0.99

//go:embed defaults.yml
var defaults []byte

// Default returns the built-in policy.
func Default() *Policy {
	p, err := read("defaults.yml", defaults)
	if err != nil {
		panic(fmt.Sprintf("the built-in policy is broken: %v", err))
	}
	p.Thresholds, p.builtin = nil, p.Thresholds
	return p
}

// Load reads a policy file. Problems are *strictyaml.Error, joined.
func Load(fsys fs.FS, name string) (*Policy, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("read thresholds: %w", err)
	}
	p, err := read(name, text)
	if err != nil {
		return nil, err
	}
	p.builtin = Default().builtin
	return p, nil
}

func read(name string, text []byte) (*Policy, error) {
	var p Policy
	doc, err := strictyaml.Read(name, text, &p)
	if err != nil {
		return nil, err
	}
	p.doc = doc
	if err := p.validate(); err != nil {
		return nil, err
	}
	return &p, nil
}
