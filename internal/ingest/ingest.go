// Package ingest reads what other tools measured in user space: the output of go
// test -bench, and criterion's JSON. It makes results of it as ebpf-bench has them,
// and knows neither kernels nor thresholds. What it reads may be a stranger's: it
// is bounded, and each problem is an error that says where.
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
	// maxInput bounds an input, in bytes.
	maxInput = 64 << 20
	// maxLine bounds a line of it.
	maxLine = 1 << 20
	// maxBenchmarks bounds the benchmarks of all inputs.
	maxBenchmarks = 10_000
	// maxMeasures bounds the measures of a benchmark.
	maxMeasures = 100
	// maxName bounds a name, in bytes, as in a suite.
	maxName = 1024
)

// Set is what was read so far. The values of a benchmark that occurs several times,
// in one input or in several, are one sample.
type Set struct {
	found []*found
	at    map[key]*found
	// CPU and Arch are what a tool said of the machine, as it names them, empty
	// where none did. Several that differ are an error.
	CPU, Arch string
	// Failed are the packages and tests that failed, whose benchmarks may be missing.
	Failed []string
}

// key tells benchmarks apart.
type key struct{ driver, pkg, name string }

// found is a benchmark with its values.
type found struct {
	key
	samples []bench.Sample
	failed  string
	procs   int
}

// Read reads an input of any of the tools: it tells them by what it begins with.
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

// count is how many values and failures there are.
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

// benchmark is that of a name, a new one where there was none.
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

// Better says which way a unit of the benchmarks' own is better.
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

// machine notes what a tool says of the machine.
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

// Results are the benchmarks as results, in the order in which they came. A
// benchmark of Go is named after the last element of its package, unless several
// packages are then not told apart.
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
