// Package ingest reads what other tools measured in user space: the output of go test
// -bench, and criterion's JSON. It turns that into results of ebpf-bench, and knows
// neither kernels nor thresholds. The input may come from a stranger: it is bounded, and
// each problem is an error with its position.
package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const (
	// maxInput is the largest input, in bytes.
	maxInput = 64 << 20
	// maxLine is the longest line in it, in bytes.
	maxLine = 1 << 20
	// maxBenchmarks is how many benchmarks all inputs may have.
	maxBenchmarks = 10_000
	// maxMeasures is how many measures a benchmark may have.
	maxMeasures = 100
	// maxName is the longest name, in bytes, as in a suite.
	maxName = 1024
)

// Set is what was read so far. If a benchmark occurs several times, in one input or in
// several, its values are one sample.
type Set struct {
	found []*found
	at    map[key]*found
	// CPU and Arch are the machine's, as a tool names them, empty if none did. Values that
	// differ are an error.
	CPU, Arch string
	// Failed are the packages and tests that failed, whose benchmarks may be missing.
	Failed []string
}

// key identifies a benchmark.
type key struct{ driver, pkg, name string }

// found is a benchmark with its values.
type found struct {
	key
	samples []bench.Sample
	failed  string
	procs   int
}

// Read reads an input from any of the tools. It recognizes them by the beginning.
func (s *Set) Read(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxInput:
		return fmt.Errorf("larger than %d MiB", maxInput>>20)
	}
	before := s.count()
	if first := bytes.TrimLeft(text, " \t\r\n"); bytes.HasPrefix(first, []byte("{")) {
		err = s.messages(text)
	} else {
		err = s.goText(bytes.NewReader(text))
	}
	if err == nil && s.count() == before && len(s.Failed) == 0 {
		err = bench.WithHint(errors.New("no benchmark in it"),
			"it takes what go test -bench prints, also with -json, and cargo criterion --message-format=json; a folder target/criterion is given by its name")
	}
	return err
}

// count returns the number of values and failures.
func (s *Set) count() int {
	n := 0
	for _, f := range s.found {
		for _, sample := range f.samples {
			n += len(sample.Values)
		}
		n += len(f.failed)
	}
	return n
}

// benchmark returns the benchmark with a key, and adds it if needed.
func (s *Set) benchmark(k key) (*found, error) {
	switch {
	case strings.TrimSpace(k.name) == "":
		return nil, errors.New("a benchmark has no name")
	case len(k.name)+len(k.pkg) > maxName:
		return nil, fmt.Errorf("the name of benchmark %.40q… has more than %d bytes", k.name, maxName)
	case !printable(k.name) || !printable(k.pkg):
		return nil, fmt.Errorf("the name of benchmark %q has characters that cannot be printed", k.name)
	}
	if f := s.at[k]; f != nil {
		return f, nil
	}
	if len(s.found) == maxBenchmarks {
		return nil, fmt.Errorf("there are more than %d benchmarks", maxBenchmarks)
	}
	if s.at == nil {
		s.at = map[key]*found{}
	}
	f := &found{key: k}
	s.at[k] = f
	s.found = append(s.found, f)
	return f, nil
}

// add adds a value to a measure.
func (f *found) add(m bench.Measure, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && !bench.IsCustom(m.Name) {
		return fmt.Errorf("%s of benchmark %q is %v", m.Name, f.name, v)
	}
	i := slices.IndexFunc(f.samples, func(s bench.Sample) bool { return s.Measure.Name == m.Name })
	if i < 0 {
		if i = len(f.samples); i == maxMeasures {
			return fmt.Errorf("benchmark %q has more than %d measures", f.name, maxMeasures)
		}
		f.samples = append(f.samples, bench.Sample{Measure: m})
	}
	sample := &f.samples[i]
	if len(sample.Values) == bench.MaxIngested {
		return fmt.Errorf("benchmark %q has more than %d values", f.name, bench.MaxIngested)
	}
	sample.Values = append(sample.Values, v)
	return nil
}

// Better sets which direction of a custom unit is better.
func (s *Set) Better(unit string, d bench.Direction) error {
	known := false
	for _, f := range s.found {
		for i := range f.samples {
			if m := &f.samples[i].Measure; m.Name == unit && bench.IsCustom(unit) {
				m.Direction, known = d, true
			}
		}
	}
	if !known {
		return fmt.Errorf("no benchmark has a unit of its own %q", unit)
	}
	return nil
}

// machine records a tool's description of the machine.
func machine(field *string, what, value string) error {
	if len(value) > maxName || !printable(value) {
		return fmt.Errorf("the %s has characters that cannot be printed", what)
	}
	if *field != "" && *field != value {
		return fmt.Errorf("the outputs come from different machines: %s %q and %q", what, *field, value)
	}
	*field = value
	return nil
}

// Results returns the benchmarks as results, in the order in which they came. A benchmark
// of Go is named after the last element of its package, or the whole package if several
// could otherwise not be distinguished.
func (s *Set) Results() []bench.Result {
	names := s.names()
	var all []bench.Result
	for i, f := range s.found {
		function, _, _ := strings.Cut(f.name, "/")
		all = append(all, bench.Result{
			Benchmark: names[i], Driver: f.driver, Object: f.pkg, Program: function,
			Error: f.failed, Procs: f.procs, Samples: append([]bench.Sample{}, f.samples...),
		})
	}
	return all
}

func (s *Set) names() []string {
	name := func(f *found, pkg string) string {
		short := f.name
		if f.driver == bench.DriverGo {
			if short = strings.TrimPrefix(short, "Benchmark"); short == "" {
				short = f.name
			}
		}
		if pkg == "" {
			return short
		}
		return pkg + "." + short
	}
	short := func(f *found) string {
		if f.pkg == "" {
			return name(f, "")
		}
		return name(f, path.Base(f.pkg))
	}
	taken := map[string]int{}
	for _, f := range s.found {
		taken[bench.Slug(short(f))]++
	}
	var all []string
	for _, f := range s.found {
		if taken[bench.Slug(short(f))] > 1 {
			all = append(all, name(f, f.pkg))
			continue
		}
		all = append(all, short(f))
	}
	return all
}

// lines calls fn for each line of a text.
func lines(r io.Reader, fn func(line string) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	n := 0
	for scanner.Scan() {
		n++
		if err := fn(scanner.Text()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d: longer than %d MiB", n+1, maxLine>>20)
	}
	return scanner.Err()
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
