package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ResultsVersion is the version of the JSON of Results. It grows when a reader of the
// previous version would misread the document; new fields do not change it.
const ResultsVersion = 2

// MaxRunSize is the largest JSON of Results, in bytes: a file can come from a stranger's
// pull request.
const MaxRunSize = 256 << 20

// Results are what commands write as JSON and read again: all of one kind, one for each
// kernel.
type Results struct {
	Version      int            `json:"version"`
	Runs         []*Run         `json:"runs,omitempty"`
	Comparisons  []*Comparison  `json:"comparisons,omitempty"`
	Explanations []*Explanation `json:"explanations,omitempty"`
	Searches     []*Search      `json:"searches,omitempty"`
}

// EncodeRuns writes runs as one JSON document.
func EncodeRuns(w io.Writer, runs ...*Run) error { return encode(w, Results{Runs: runs}) }

// EncodeComparisons writes comparisons as one JSON document.
func EncodeComparisons(w io.Writer, all ...*Comparison) error {
	return encode(w, Results{Comparisons: all})
}

// EncodeExplanations writes explanations as one JSON document.
func EncodeExplanations(w io.Writer, all ...*Explanation) error {
	return encode(w, Results{Explanations: all})
}

// EncodeSearches writes searches as one JSON document.
func EncodeSearches(w io.Writer, all ...*Search) error {
	return encode(w, Results{Searches: all})
}

// encode writes empty lists in the document instead of null.
func encode(w io.Writer, r Results) error {
	doc := Results{Version: ResultsVersion}
	for _, run := range r.Runs {
		run := *run
		run.Results = append([]Result{}, run.Results...)
		doc.Runs = append(doc.Runs, &run)
	}
	for _, c := range r.Comparisons {
		c := *c
		c.Pairs = append([]Pair{}, c.Pairs...)
		doc.Comparisons = append(doc.Comparisons, &c)
	}
	for _, e := range r.Explanations {
		e := *e
		e.Programs = append([]Explained{}, e.Programs...)
		for i := range e.Programs {
			e.Programs[i].Lines = append([]Line{}, e.Programs[i].Lines...)
		}
		doc.Explanations = append(doc.Explanations, &e)
	}
	for _, s := range r.Searches {
		s := *s
		s.Programs = append([]Searched{}, s.Programs...)
		for i := range s.Programs {
			s.Programs[i].Inputs = append([]FoundInput{}, s.Programs[i].Inputs...)
		}
		doc.Searches = append(doc.Searches, &s)
	}
	return writeJSON(w, &doc)
}

func writeJSON(w io.Writer, doc any) error {
	if err := json.NewEncoder(w).Encode(doc); err != nil {
		return fmt.Errorf("encode results: %w", err)
	}
	return nil
}

// Decode reads results and checks that they are whole: a known version, one kind of
// results, counters of equal length, finite values. A run may have no results: a virtual
// machine reports in that way that it is done, and a shard may have no benchmarks.
func Decode(r io.Reader) (*Results, error) {
	var doc struct {
		Version      int              `json:"version"`
		Runs         runs             `json:"runs"`
		Comparisons  comparisons      `json:"comparisons"`
		Explanations explanationsList `json:"explanations"`
		Searches     searchesList     `json:"searches"`
	}
	err := decodeDocument(r, &doc)
	kinds := 0
	for _, n := range []int{len(doc.Runs), len(doc.Comparisons), len(doc.Explanations), len(doc.Searches)} {
		kinds += min(n, 1)
	}
	switch {
	case doc.Version != 0 && doc.Version != ResultsVersion:
		err = fmt.Errorf("version %d is not known, this ebpf-bench reads version %d", doc.Version, ResultsVersion)
	case err != nil:
	case doc.Version == 0:
		err = errors.New("the document has no version: it is not a result of ebpf-bench")
	case kinds == 0:
		err = errors.New("there are no results in it")
	case kinds > 1:
		err = errors.New("there are results of several kinds in it")
	}
	if err != nil {
		return nil, fmt.Errorf("decode results: %w", err)
	}
	return &Results{doc.Version, doc.Runs, doc.Comparisons, doc.Explanations, doc.Searches}, nil
}

var errNoResults = errors.New("there is a run without results in it")

// DecodeRuns reads runs as Decode does. It returns at least one, and none without results.
func DecodeRuns(r io.Reader) ([]*Run, error) {
	results, err := Decode(r)
	if err != nil {
		return nil, err
	}
	switch {
	case len(results.Comparisons) > 0:
		return nil, WithHint(errors.New("it is a comparison of ebpf-bench compare, not the results of ebpf-bench run"),
			"compare the objects, or the results of ebpf-bench run --out")
	case len(results.Explanations) > 0:
		return nil, WithHint(errors.New("it is an explanation of ebpf-bench explain, not the results of ebpf-bench run"),
			"give the objects, or the results of ebpf-bench run --out")
	case len(results.Searches) > 0:
		return nil, WithHint(errors.New("it is what ebpf-bench search found, not the results of ebpf-bench run"),
			"give the objects, or the results of ebpf-bench run --out")
	}
	if slices.ContainsFunc(results.Runs, func(r *Run) bool { return len(r.Results) == 0 }) {
		return nil, errNoResults
	}
	return results.Runs, nil
}

// DecodeRun reads a single run as Decode does. It may have no results.
func DecodeRun(r io.Reader) (*Run, error) {
	return decodeOne(r, func(r *Results) []*Run { return r.Runs })
}

// DecodeComparison reads a single comparison as Decode does.
func DecodeComparison(r io.Reader) (*Comparison, error) {
	return decodeOne(r, func(r *Results) []*Comparison { return r.Comparisons })
}

// DecodeExplanation reads a single explanation as Decode does.
func DecodeExplanation(r io.Reader) (*Explanation, error) {
	return decodeOne(r, func(r *Results) []*Explanation { return r.Explanations })
}

// DecodeSearch reads a single search as Decode does.
func DecodeSearch(r io.Reader) (*Search, error) {
	return decodeOne(r, func(r *Results) []*Search { return r.Searches })
}

func decodeOne[T any](r io.Reader, of func(*Results) []*T) (*T, error) {
	results, err := Decode(r)
	if err != nil {
		return nil, err
	}
	all := of(results)
	if len(all) != 1 {
		return nil, fmt.Errorf("there are %d results of that kind in it, and not one", len(all))
	}
	return all[0], nil
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
	seen := map[string]bool{}
	for _, s := range r.Samples {
		if err := s.check(); err != nil {
			return fmt.Errorf("benchmark %q: %w", r.Benchmark, err)
		}
		if seen[s.Measure.Name] {
			return fmt.Errorf("benchmark %q has the measure %q twice", r.Benchmark, s.Measure.Name)
		}
		seen[s.Measure.Name] = true
	}
	if err := r.checkIngested(); err != nil {
		return fmt.Errorf("benchmark %q: %w", r.Benchmark, err)
	}
	return nil
}

// kind describes a measure apart from its name.
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
	// With another direction, a file could turn a regression into an improvement.
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
