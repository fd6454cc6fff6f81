package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

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
