package bench

import (
	"errors"
	"fmt"
)

// comparisonDoc is the JSON of a comparison, pairDoc that of a pair.
type comparisonDoc struct {
	Comparison
	Pairs     pairs `json:"pairs"`
	Confirmed pairs `json:"confirmed"`
}

// comparison returns the comparison after all of it was decoded.
func (d *comparisonDoc) comparison() (*Comparison, error) {
	if d.Pairs == nil {
		return nil, errors.New("a comparison has no pairs")
	}
	d.Comparison.Pairs, d.Comparison.Confirmed = d.Pairs, d.Confirmed
	return &d.Comparison, checkThresholds(d.Thresholds)
}

type comparisons []*Comparison

func (c *comparisons) UnmarshalJSON(text []byte) (err error) {
	*c, err = decodeList(text, "comparisons", maxRuns, (*comparisonDoc).comparison)
	return err
}

type pairDoc struct {
	Pair
	Base  *resultDoc `json:"base"`
	Head  *resultDoc `json:"head"`
	Again *resultDoc `json:"again"`
	Lines lines      `json:"lines"`
	// Edited hides the field of a pair, which has no limit.
	Edited editedLines `json:"edited"`
	Data   data        `json:"data"`
}

type data []string

func (d *data) UnmarshalJSON(text []byte) (err error) {
	*d, err = decodeList(text, "differences of data of a benchmark", MaxData, func(s *string) (string, error) { return *s, nil })
	return err
}

type lines []Line

func (l *lines) UnmarshalJSON(text []byte) (err error) {
	*l, err = decodeList(text, "lines of a benchmark", MaxLines, func(l *Line) (Line, error) { return *l, l.check() })
	return err
}

type editedLines []EditedLine

func (l *editedLines) UnmarshalJSON(text []byte) (err error) {
	*l, err = decodeList(text, "edited lines of a benchmark", MaxEdited, func(l *EditedLine) (EditedLine, error) {
		return *l, (&Source{File: l.File, Line: l.Number}).Check()
	})
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
		d.Pair.Lines, d.Pair.Edited, d.Pair.Data = d.Lines, d.Edited, d.Data
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
