package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// messages reads lines of JSON from cargo criterion, or from go test.
func (s *Set) messages(text []byte) error {
	events := &goEvents{output: map[string]*bytes.Buffer{}}
	err := lines(bytes.NewReader(text), func(line string) error {
		var kind struct{ Reason, Action string }
		switch {
		case !strings.HasPrefix(strings.TrimSpace(line), "{"):
			return nil // other output of cargo
		case json.Unmarshal([]byte(line), &kind) != nil:
			return errors.New("no JSON: is it cut off?")
		case kind.Action != "":
			return events.add([]byte(line))
		case kind.Reason == "benchmark-complete":
			return s.criterionMessage([]byte(line))
		}
		return nil
	})
	if err != nil || len(events.packages) == 0 {
		return err
	}
	return s.goText(events.text())
}

// criterionMessage reads cargo criterion's message about one benchmark, see
// https://bheisler.github.io/criterion.rs/book/cargo_criterion/external_tools.html.
func (s *Set) criterionMessage(line []byte) error {
	var m struct {
		ID             string    `json:"id"`
		IterationCount []float64 `json:"iteration_count"`
		MeasuredValues []float64 `json:"measured_values"`
		Unit           string    `json:"unit"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("no message of cargo criterion: %w", err)
	}
	return s.criterion(m.ID, m.Unit, m.IterationCount, m.MeasuredValues)
}

// criterion adds a benchmark with its numbers of iterations and their total times.
func (s *Set) criterion(id, unit string, iterations, totals []float64) error {
	f, err := s.benchmark(key{bench.DriverCriterion, "", id})
	if err != nil {
		return err
	}
	if len(iterations) == 0 || len(iterations) != len(totals) {
		return fmt.Errorf("benchmark %q has %d numbers of iterations and %d values", id, len(iterations), len(totals))
	}
	m := bench.Latency
	if unit != "ns" {
		switch {
		case unit == "":
			return fmt.Errorf("benchmark %q has no unit", id)
		case !printable(unit) || len(unit) > maxName:
			return fmt.Errorf("benchmark %q has a unit that cannot be printed", id)
		}
		m = bench.Measure{Name: unit + "/op", Unit: unit + "/op", Direction: bench.LowerIsBetter}
	}
	for i, n := range iterations {
		if n <= 0 {
			return fmt.Errorf("benchmark %q has a value of %v iterations", id, n)
		}
		if err := f.add(m, totals[i]/n); err != nil {
			return err
		}
	}
	return nil
}

// The files that criterion writes for a benchmark, in a folder new: those of the previous
// run are in base.
const (
	criterionNew       = "new"
	criterionBenchmark = "benchmark.json"
	criterionSample    = "sample.json"
	criterionEstimates = "estimates.json"
)

// ReadFolder reads criterion's files below a folder, such as target/criterion, or a
// project that has that.
func (s *Set) ReadFolder(fsys fs.FS) error {
	for _, below := range []string{"target/criterion", "criterion"} {
		if info, err := fs.Stat(fsys, below); err == nil && info.IsDir() {
			sub, err := fs.Sub(fsys, below)
			if err != nil {
				return err
			}
			fsys = sub
			break
		}
	}
	before := s.count()
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Base(name) != criterionBenchmark || path.Base(path.Dir(name)) != criterionNew {
			return err
		}
		if err := s.criterionFiles(fsys, path.Dir(name)); err != nil {
			return fmt.Errorf("%s: %w", path.Dir(name), err)
		}
		return nil
	})
	if err == nil && s.count() == before {
		err = bench.WithHint(errors.New("it has no results of criterion"), "name the folder target/criterion of the project, after cargo bench")
	}
	return err
}

// criterionFiles reads the folder of one benchmark. If it has no values, such as because
// it was thinned out, their median is used.
func (s *Set) criterionFiles(fsys fs.FS, dir string) error {
	var b struct {
		FullID string `json:"full_id"`
	}
	if err := readJSON(fsys, path.Join(dir, criterionBenchmark), &b); err != nil {
		return err
	}
	var sample struct{ Iters, Times []float64 }
	err := readJSON(fsys, path.Join(dir, criterionSample), &sample)
	if err == nil {
		return s.criterion(b.FullID, "ns", sample.Iters, sample.Times)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var e struct {
		Median struct {
			PointEstimate *float64 `json:"point_estimate"`
		}
	}
	switch err := readJSON(fsys, path.Join(dir, criterionEstimates), &e); {
	case err != nil:
		return err
	case e.Median.PointEstimate == nil:
		return errors.New(criterionEstimates + " has no median")
	}
	return s.criterion(b.FullID, "ns", []float64{1}, []float64{*e.Median.PointEstimate})
}

// readJSON reads a file of bounded size. It must be a regular file: a pipe would block.
func readJSON(fsys fs.FS, name string, v any) error {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path.Base(name))
	case info.Size() > maxLine:
		return fmt.Errorf("%s is larger than %d MiB", path.Base(name), maxLine>>20)
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path.Base(name), err)
	}
	return nil
}
