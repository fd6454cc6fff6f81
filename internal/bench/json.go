package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// RunVersion is the version of a Run's JSON. It grows when a reader of the
// previous version would misread the document; new fields do not change it.
const RunVersion = 1

// MaxRunSize bounds a Run's JSON, in bytes: a result file can come from a
// stranger's pull request.
const MaxRunSize = 256 << 20

// Encode writes the run as one JSON document.
func Encode(w io.Writer, run *Run) error {
	doc := *run
	doc.Version = RunVersion
	if doc.Results == nil {
		doc.Results = []Result{}
	}
	if err := json.NewEncoder(w).Encode(&doc); err != nil {
		return fmt.Errorf("encode run: %w", err)
	}
	return nil
}

// Decode reads one run and checks that it is whole: a version that it knows,
// counters of equal length, finite values. It may have no results: a virtual
// machine reports so that it is done.
func Decode(r io.Reader) (*Run, error) {
	doc, err := decodeRun(r)
	if err == nil {
		var run *Run
		if run, err = doc.run(); err == nil {
			return run, nil
		}
	}
	return nil, fmt.Errorf("decode run: %w", err)
}

func decodeRun(r io.Reader) (*runDoc, error) {
	var doc runDoc
	err := decodeDocument(r, &doc)
	if kind := doc.kind(); kind != nil {
		err = kind
	}
	return &doc, err
}

func (r *Result) check() error {
	for _, c := range []*Counters{&r.Rounds, &r.Floor} {
		if n := len(c.RunCnt); len(c.RunTimeNS) != n || len(c.Load) != n || len(c.WallNS) != n && len(c.WallNS) != 0 {
			return fmt.Errorf("benchmark %q has counters of different lengths", r.Benchmark)
		}
	}
	if err := r.Source.Check(); err != nil {
		return fmt.Errorf("benchmark %q: %w", r.Benchmark, err)
	}
	for _, s := range r.Samples {
		if err := s.check(); err != nil {
			return fmt.Errorf("benchmark %q: %w", r.Benchmark, err)
		}
	}
	if err := r.checkIngested(); err != nil {
		return fmt.Errorf("benchmark %q: %w", r.Benchmark, err)
	}
	return nil
}

// kind is what a measure is beside its name, in words.
func (m Measure) kind() string {
	kind := "timed"
	if m.Exact {
		kind = "exact"
	}
	return fmt.Sprintf("%s, %s is better, in %s", kind, m.Direction, m.Unit)
}

func (s *Sample) check() error {
	if s.Measure.Name == "" {
		return errors.New("a sample has no measure")
	}
	if d := s.Measure.Direction; d != LowerIsBetter && d != HigherIsBetter && (d != UnknownDirection || !IsCustom(s.Measure.Name)) {
		return fmt.Errorf("measure %q has direction %q", s.Measure.Name, d)
	}
	// By a direction of its own, a file could make a regression an improvement.
	if m, known := MeasureNamed(s.Measure.Name); known && m != s.Measure {
		return fmt.Errorf("it has %s as %s, but it is %s", m.Name, s.Measure.kind(), m.kind())
	}
	for _, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("measure %q has the value %v", s.Measure.Name, v)
		}
	}
	return nil
}
