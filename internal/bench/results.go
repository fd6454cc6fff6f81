package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// matrix is the JSON of several runs: one suite on several kernels.
type matrix struct {
	Version int    `json:"version"`
	Runs    []*Run `json:"runs"`
}

// Series is the series of a kernel's release: 6.12 of 6.12.107+deb13-amd64. What
// is no such release is its own series.
func Series(release string) string {
	if m := seriesForm.FindString(release); m != "" && IsRelease(release, m) {
		return m
	}
	return release
}

var seriesForm = regexp.MustCompile(`^\d+\.\d+`)

// IsRelease tells whether a name is a whole beginning of a release: 6.1 is one of
// 6.1.0-50-cloud-amd64, but not of 6.12.107.
func IsRelease(release, name string) bool {
	rest, ok := strings.CutPrefix(release, name)
	return ok && name != "" && (rest == "" || !isAlnum(rest[0]))
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// EncodeAll writes several runs as one JSON document, and a single one as
// Encode does.
func EncodeAll(w io.Writer, runs []*Run) error {
	if len(runs) == 1 {
		return Encode(w, runs[0])
	}
	doc := matrix{Version: RunVersion, Runs: []*Run{}}
	for _, run := range runs {
		run := *run
		run.Version = RunVersion
		doc.Runs = append(doc.Runs, &run)
	}
	if err := json.NewEncoder(w).Encode(&doc); err != nil {
		return fmt.Errorf("encode runs: %w", err)
	}
	return nil
}

// DecodeAll reads what EncodeAll writes, and checks each run as Decode does. There
// is at least one, and none without results.
func DecodeAll(r io.Reader) ([]*Run, error) {
	doc, err := decodeRun(r)
	if err != nil {
		return nil, fmt.Errorf("decode runs: %w", err)
	}
	runs := doc.Runs
	if runs == nil {
		run, err := doc.run()
		if err != nil {
			return nil, fmt.Errorf("decode runs: %w", err)
		}
		runs = append(runs, run)
	}
	if len(runs) == 0 {
		return nil, errors.New("decode runs: there is no run in it")
	}
	for _, run := range runs {
		if len(run.Results) == 0 {
			return nil, errors.New("decode runs: there is a run without results in it")
		}
	}
	return runs, nil
}

// comparisonMatrix is the JSON of several comparisons: one suite on several
// kernels.
type comparisonMatrix struct {
	Version     int           `json:"version"`
	Comparisons []*Comparison `json:"comparisons"`
}

// EncodeComparisons writes several comparisons as one JSON document, and a
// single one as EncodeComparison does.
func EncodeComparisons(w io.Writer, comparisons []*Comparison) error {
	if len(comparisons) == 1 {
		return EncodeComparison(w, comparisons[0])
	}
	doc := comparisonMatrix{Version: ComparisonVersion, Comparisons: []*Comparison{}}
	for _, c := range comparisons {
		c := *c
		c.Version = ComparisonVersion
		if c.Pairs == nil {
			c.Pairs = []Pair{}
		}
		doc.Comparisons = append(doc.Comparisons, &c)
	}
	if err := json.NewEncoder(w).Encode(&doc); err != nil {
		return fmt.Errorf("encode comparisons: %w", err)
	}
	return nil
}

// Results are what one or several files of results have: runs of one side, or
// comparisons of two.
type Results struct {
	Runs        []*Run
	Comparisons []*Comparison
}

// decodeResults reads what any of the encoders writes, and checks it as the
// decoders do. There is at least one run with results, or one comparison.
func decodeResults(text []byte) (*Results, error) {
	var kind struct {
		Comparisons present `json:"comparisons"`
		Pairs       present `json:"pairs"`
	}
	if err := decodeDocument(bytes.NewReader(text), &kind); err != nil {
		return nil, fmt.Errorf("decode results: %w", err)
	}
	switch {
	case bool(kind.Comparisons):
		all, err := decodeComparisons(text)
		return &Results{Comparisons: all}, err
	case bool(kind.Pairs):
		c, err := DecodeComparison(bytes.NewReader(text))
		return &Results{Comparisons: []*Comparison{c}}, err
	}
	runs, err := DecodeAll(bytes.NewReader(text))
	return &Results{Runs: runs}, err
}

func decodeComparisons(text []byte) ([]*Comparison, error) {
	var doc struct {
		Version     int         `json:"version"`
		Comparisons comparisons `json:"comparisons"`
	}
	err := decodeDocument(bytes.NewReader(text), &doc)
	switch {
	case doc.Version != 0 && doc.Version != ComparisonVersion:
		err = fmt.Errorf("version %d is not known, this ebpf-bench reads version %d", doc.Version, ComparisonVersion)
	case err == nil && len(doc.Comparisons) == 0:
		err = errors.New("there is no comparison in it")
	}
	if err != nil {
		return nil, fmt.Errorf("decode comparisons: %w", err)
	}
	return doc.Comparisons, nil
}

type comparisons []*Comparison

func (c *comparisons) UnmarshalJSON(text []byte) (err error) {
	*c, err = decodeList(text, "comparisons", maxRuns, func(d *comparisonDoc) (*Comparison, error) { return d.comparison() })
	return err
}
