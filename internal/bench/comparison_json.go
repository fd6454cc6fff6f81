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
	var c Comparison
	err := decodeDocument(r, &c)
	switch {
	case err != nil:
	case c.Version == 0:
		err = errors.New("the document has no version: it is no result of ebpf-bench compare")
	case c.Version != ComparisonVersion:
		err = fmt.Errorf("version %d is not known, this ebpf-bench reads version %d", c.Version, ComparisonVersion)
	default:
		err = errors.Join(checkPairs(c.Pairs), checkPairs(c.Confirmed))
	}
	if err != nil {
		return nil, fmt.Errorf("decode comparison: %w", err)
	}
	return &c, nil
}

func checkPairs(pairs []Pair) error {
	seen := map[string]bool{}
	for i := range pairs {
		p := &pairs[i]
		switch {
		case p.Benchmark == "":
			return fmt.Errorf("pair %d has no benchmark", i+1)
		case seen[p.Benchmark]:
			return fmt.Errorf("benchmark %q occurs twice", p.Benchmark)
		}
		seen[p.Benchmark] = true
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
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
