package bench

import (
	"errors"
	"fmt"
	"math"
)

// explanationDoc is the JSON of an explanation, explainedDoc that of a benchmark
// in it.
type explanationDoc struct {
	Explanation
	Programs explaineds `json:"programs"`
}

// explanation returns the explanation after all of it was decoded.
func (d *explanationDoc) explanation() (*Explanation, error) {
	if d.Programs == nil {
		return nil, errors.New("an explanation has no programs")
	}
	d.Explanation.Programs = d.Programs
	return &d.Explanation, nil
}

type explanationsList []*Explanation

func (e *explanationsList) UnmarshalJSON(text []byte) (err error) {
	*e, err = decodeList(text, "explanations", maxRuns, (*explanationDoc).explanation)
	return err
}

type explainedDoc struct {
	Explained
	Base     *explainedSideDoc `json:"base"`
	Head     *explainedSideDoc `json:"head"`
	Lines    explainedLines    `json:"lines"`
	Warnings warnings          `json:"warnings"`
}

type explainedSideDoc struct {
	ExplainedSide
	Code codes `json:"code"`
}

func (d *explainedSideDoc) side() *ExplainedSide {
	if d == nil {
		return nil
	}
	d.ExplainedSide.Code = d.Code
	return &d.ExplainedSide
}

type explaineds []Explained

func (e *explaineds) UnmarshalJSON(text []byte) (err error) {
	seen := map[string]bool{}
	*e, err = decodeList(text, "programs", maxResults, func(d *explainedDoc) (Explained, error) {
		switch {
		case d.Benchmark == "":
			return Explained{}, fmt.Errorf("program %d has no benchmark", len(seen)+1)
		case seen[d.Benchmark]:
			return Explained{}, fmt.Errorf("benchmark %q occurs twice", d.Benchmark)
		}
		seen[d.Benchmark] = true
		d.Explained.Base, d.Explained.Head = d.Base.side(), d.Head.side()
		d.Explained.Lines, d.Explained.Warnings = d.Lines, d.Warnings
		return d.Explained, d.check()
	})
	return err
}

func (e *Explained) check() error {
	if e.Base == nil && e.Head == nil && e.Error == "" {
		return fmt.Errorf("benchmark %q has neither base nor head, and no error", e.Benchmark)
	}
	for _, s := range []*ExplainedSide{e.Base, e.Head} {
		if s == nil {
			continue
		}
		if len(s.Object) > maxFileName || len(s.Program) > maxSourceFunction {
			return fmt.Errorf("benchmark %q: the names of a side are too long", e.Benchmark)
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("benchmark %q: %w", e.Benchmark, err)
		}
	}
	return nil
}

// A program has a million instructions at most, and a line at least one.
const (
	maxExplainedLines = 1 << 20
	maxCode           = 1 << 20
	maxCodeText       = 4096
)

type explainedLines []Line

func (l *explainedLines) UnmarshalJSON(text []byte) (err error) {
	*l, err = decodeList(text, "lines of a program", maxExplainedLines, func(d *lineDoc) (Line, error) {
		d.Line.Base, d.Line.Head = d.Base.executed(), d.Head.executed()
		return d.Line, d.check()
	})
	return err
}

type lineDoc struct {
	Line
	Base *executedDoc `json:"base"`
	Head *executedDoc `json:"head"`
}

func (d *lineDoc) check() error {
	switch l := &d.Line; {
	case l.Base == nil && l.Head == nil:
		return errors.New("a line is on no side")
	case l.Offset < 0 || l.InFunctionEnd < 0 || l.BaseNumber < 0 || l.BaseNumber > maxSourceLine:
		return errors.New("a line has a place that there is not")
	default:
		if err := l.check(); err != nil {
			return err
		}
		return errors.Join(l.Base.check(), l.Head.check())
	}
}

type executedDoc struct {
	Executed
	Code  codes    `json:"code"`
	Calls warnings `json:"calls"`
	Notes warnings `json:"notes"`
}

func (d *executedDoc) executed() *Executed {
	if d == nil {
		return nil
	}
	d.Executed.Code, d.Executed.Calls, d.Executed.Notes = d.Code, d.Calls, d.Notes
	return &d.Executed
}

func (e *Executed) check() error {
	if e == nil {
		return nil
	}
	if bad(e.PerRun) || bad(e.Times) || e.Instructions < 0 || e.Spread != nil && (bad(e.Spread.Least) || bad(e.Spread.Most)) {
		return fmt.Errorf("%v instructions a run, of %d", e.PerRun, e.Instructions)
	}
	return nil
}

// bad reports whether v cannot be a number of instructions.
func bad(v float64) bool { return v < 0 || math.IsNaN(v) || math.IsInf(v, 0) }

type codes []Code

func (c *codes) UnmarshalJSON(text []byte) (err error) {
	*c, err = decodeList(text, "instructions of a line", maxCode, func(c *Code) (Code, error) { return *c, c.check() })
	return err
}

func (c *Code) check() error {
	switch {
	case c.Text == "" || len(c.Text) > maxCodeText:
		return errors.New("an instruction has no text, or one that is too long")
	case c.Offset < 0 || bad(c.PerRun) || c.Machine != nil && *c.Machine < 0:
		return fmt.Errorf("the instruction %q has negative figures", c.Text)
	}
	return nil
}
