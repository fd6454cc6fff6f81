package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/org/ebpf-bench-action/internal/strictjson"
)

// A document can come from a stranger's pull request, and two bytes of JSON can become a
// struct of hundreds. So lists are read one element at a time, each is checked before
// the next, and have limits that no honest document comes near: the memory for a
// document is a small multiple of its size.
const (
	maxRuns     = 1000
	maxResults  = 100_000
	maxSamples  = 1000   // per result
	maxWarnings = 10_000 // per result
	maxAlerts   = 1000   // per result
)

// decodeDocument reads one JSON document of bounded size, which must be the whole input.
func decodeDocument(r io.Reader, v any) error {
	limited := &io.LimitedReader{R: r, N: MaxRunSize + 1}
	dec := json.NewDecoder(limited)
	err := dec.Decode(v)
	switch {
	case limited.N == 0:
		return fmt.Errorf("larger than %d MiB", MaxRunSize>>20)
	case err != nil:
		return strictjson.Reword(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}

// decodeList reads an array with at most limit elements, and passes each to take, which
// checks it. It returns nil for null.
func decodeList[D, T any](text []byte, what string, limit int, take func(*D) (T, error)) ([]T, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	switch open, err := dec.Token(); {
	case err != nil:
		return nil, strictjson.Reword(err)
	case open == nil:
		return nil, nil
	case open != json.Delim('['):
		return nil, fmt.Errorf("the %s are not a list", what)
	}
	list := []T{}
	for dec.More() {
		if len(list) == limit {
			return nil, fmt.Errorf("more than %d %s", limit, what)
		}
		var doc D
		if err := dec.Decode(&doc); err != nil {
			return nil, strictjson.Reword(err)
		}
		element, err := take(&doc)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return list, nil
}

// runDoc is the JSON of a run.
type runDoc struct {
	Run
	Results results `json:"results"`
}

// run returns the run after all of it was decoded.
func (d *runDoc) run() (*Run, error) {
	if d.Results == nil {
		return nil, errors.New("a run has no results")
	}
	d.Run.Results = d.Results
	return &d.Run, checkThresholds(d.Thresholds)
}

// maxFileName is the longest file name that is accepted: Linux opens no longer ones.
const maxFileName = 4096

func checkThresholds(name string) error {
	if len(name) > maxFileName {
		return fmt.Errorf("the name of its thresholds has more than %d bytes", maxFileName)
	}
	return nil
}

type runs []*Run

func (r *runs) UnmarshalJSON(text []byte) (err error) {
	*r, err = decodeList(text, "runs", maxRuns, (*runDoc).run)
	return err
}

type results []Result

func (r *results) UnmarshalJSON(text []byte) (err error) {
	seen := map[string]bool{}
	*r, err = decodeList(text, "results", maxResults, func(d *resultDoc) (Result, error) {
		switch {
		case d.Benchmark == "":
			return Result{}, fmt.Errorf("result %d has no benchmark", len(seen)+1)
		case seen[d.Benchmark]:
			return Result{}, fmt.Errorf("benchmark %q occurs twice", d.Benchmark)
		}
		seen[d.Benchmark] = true
		result := d.result()
		return *result, result.check()
	})
	return err
}

// resultDoc is the JSON of a result.
type resultDoc struct {
	Result
	Samples  samples  `json:"samples"`
	Warnings warnings `json:"warnings"`
	Alerts   alerts   `json:"alerts"`
}

// result returns the result, or nil if d is nil.
func (d *resultDoc) result() *Result {
	if d == nil {
		return nil
	}
	d.Result.Samples, d.Result.Warnings, d.Result.Alerts = d.Samples, d.Warnings, d.Alerts
	return &d.Result
}

// samples are checked with their result, because errors name the benchmark.
type samples []Sample

func (s *samples) UnmarshalJSON(text []byte) (err error) {
	*s, err = decodeList(text, "samples of a benchmark", maxSamples, func(s *Sample) (Sample, error) { return *s, nil })
	return err
}

type warnings []string

func (w *warnings) UnmarshalJSON(text []byte) (err error) {
	*w, err = decodeList(text, "warnings of a benchmark", maxWarnings, func(s *string) (string, error) { return *s, nil })
	return err
}

type alerts []Alert

func (a *alerts) UnmarshalJSON(text []byte) (err error) {
	*a, err = decodeList(text, "alerts of a benchmark", maxAlerts, func(a *Alert) (Alert, error) { return *a, nil })
	return err
}
