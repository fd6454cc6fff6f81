package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// EncodeComparison writes the comparison as one JSON document.
func EncodeComparison(w io.Writer, c *Comparison) error {
	doc := *c
	doc.Version = ComparisonVersion
	if doc.Pairs == nil {
		doc.Pairs = []Pair{}
	}
	if err := json.NewEncoder(w).Encode(&doc); err != nil {
		return fmt.Errorf("encode comparison: %w", err)
	}
	return nil
}

// DecodeComparison reads one comparison and checks that it is whole, as Decode
// does with a run, and that what was measured in pairs has equal rounds.
func DecodeComparison(r io.Reader) (*Comparison, error) {
	var doc comparisonDoc
	err := decodeDocument(r, &doc)
	c, kind := doc.comparison()
	if err == nil || doc.Version != 0 && doc.Version != ComparisonVersion {
		err = kind
	}
	if err != nil {
		return nil, fmt.Errorf("decode comparison: %w", err)
	}
	return c, nil
}

// comparisonDoc is the JSON of a comparison, pairDoc that of a pair.
type comparisonDoc struct {
	Comparison
	Pairs     pairs `json:"pairs"`
	Confirmed pairs `json:"confirmed"`
}

// comparison is the comparison, if it is one of a known version.
func (d *comparisonDoc) comparison() (*Comparison, error) {
	switch {
	case d.Version == 0:
		return nil, errors.New("the document has no version: it is no result of ebpf-bench compare")
	case d.Version != ComparisonVersion:
		return nil, fmt.Errorf("version %d is not known, this ebpf-bench reads version %d", d.Version, ComparisonVersion)
	case d.Pairs == nil:
		return nil, errors.New("the document has no pairs: it is no result of ebpf-bench compare")
	}
	d.Comparison.Pairs, d.Comparison.Confirmed = d.Pairs, d.Confirmed
	return &d.Comparison, checkThresholds(d.Thresholds)
}

type pairDoc struct {
	Pair
	Base  *resultDoc `json:"base"`
	Head  *resultDoc `json:"head"`
	Again *resultDoc `json:"again"`
	Lines lines      `json:"lines"`
}

type lines []Line

func (l *lines) UnmarshalJSON(text []byte) (err error) {
	*l, err = decodeList(text, "lines of a benchmark", MaxLines, func(l *Line) (Line, error) { return *l, l.check() })
	return err
}

type pairs []Pair

func (p *pairs) UnmarshalJSON(text []byte) (err error) {
	seen := map[string]bool{}
	*p, err = decodeList(text, "pairs", maxResults, func(d *pairDoc) (Pair, error) {
		switch {
		case d.Benchmark == "":
			return Pair{}, fmt.Errorf("pair %d has no benchmark", len(seen)+1)
		case seen[d.Benchmark]:
			return Pair{}, fmt.Errorf("benchmark %q occurs twice", d.Benchmark)
		}
		seen[d.Benchmark] = true
		d.Pair.Base, d.Pair.Head, d.Pair.Again = d.Base.result(), d.Head.result(), d.Again.result()
		d.Pair.Lines = d.Lines
		return d.Pair, d.check()
	})
	return err
}

func (p *Pair) check() error {
	if p.Base == nil && p.Head == nil {
		return fmt.Errorf("benchmark %q has neither base nor head", p.Benchmark)
	}
	for _, r := range []*Result{p.Base, p.Head, p.Again} {
		if r == nil {
			continue
		}
		if r.Benchmark != p.Benchmark {
			return fmt.Errorf("benchmark %q has a result of %q", p.Benchmark, r.Benchmark)
		}
		if err := r.check(); err != nil {
			return err
		}
	}
	if p.Again != nil && (p.Base == nil || p.Head == nil) {
		return fmt.Errorf("benchmark %q is paired with nothing", p.Benchmark)
	}
	return nil
}
