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
// counters of equal length, finite values.
func Decode(r io.Reader) (*Run, error) {
	var run Run
	err := decodeDocument(r, &run)
	switch {
	case err != nil:
	case run.Version == 0:
		err = errors.New("the document has no version: it is no result of ebpf-bench run")
	case run.Version != RunVersion:
		err = fmt.Errorf("version %d is not known, this ebpf-bench reads version %d", run.Version, RunVersion)
	default:
		err = run.check()
	}
	if err != nil {
		return nil, fmt.Errorf("decode run: %w", err)
	}
	return &run, nil
}

// decodeDocument reads one JSON document of bounded size, after which nothing
// follows.
func decodeDocument(r io.Reader, v any) error {
	limited := &io.LimitedReader{R: r, N: MaxRunSize + 1}
	dec := json.NewDecoder(limited)
	err := dec.Decode(v)
	switch {
	case limited.N == 0:
		return fmt.Errorf("larger than %d MiB", MaxRunSize>>20)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the document ends before it is complete")
	case err != nil:
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}

func (run *Run) check() error {
	seen := map[string]bool{}
	for i := range run.Results {
		r := &run.Results[i]
		if r.Benchmark == "" {
			return fmt.Errorf("result %d has no benchmark", i+1)
		}
		if seen[r.Benchmark] {
			return fmt.Errorf("benchmark %q occurs twice", r.Benchmark)
		}
		seen[r.Benchmark] = true
		if err := r.check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) check() error {
	for _, c := range []*Counters{&r.Rounds, &r.Floor} {
		if n := len(c.RunCnt); len(c.RunTimeNS) != n || len(c.Load) != n || len(c.WallNS) != n && len(c.WallNS) != 0 {
			return fmt.Errorf("benchmark %q has counters of different lengths", r.Benchmark)
		}
	}
	for _, s := range r.Samples {
		if err := s.check(); err != nil {
			return fmt.Errorf("benchmark %q: %w", r.Benchmark, err)
		}
	}
	return nil
}

func (s *Sample) check() error {
	if s.Measure.Name == "" {
		return errors.New("a sample has no measure")
	}
	if d := s.Measure.Direction; d != LowerIsBetter && d != HigherIsBetter {
		return fmt.Errorf("measure %q has direction %q", s.Measure.Name, d)
	}
	for _, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("measure %q has the value %v", s.Measure.Name, v)
		}
	}
	return nil
}
