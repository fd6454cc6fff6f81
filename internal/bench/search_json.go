package bench

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// searchDoc is the JSON of a search, searchedDoc that of a program in it.
type searchDoc struct {
	Search
	Programs searcheds `json:"programs"`
}

// search returns the search after all of it was decoded.
func (d *searchDoc) search() (*Search, error) {
	if d.Programs == nil {
		return nil, errors.New("a search has no programs")
	}
	d.Search.Programs = d.Programs
	return &d.Search, nil
}

type searchesList []*Search

func (s *searchesList) UnmarshalJSON(text []byte) (err error) {
	*s, err = decodeList(text, "searches", maxRuns, (*searchDoc).search)
	return err
}

type searchedDoc struct {
	Searched
	Inputs    foundInputs `json:"inputs"`
	Unreached sources     `json:"unreached"`
	Warnings  warnings    `json:"warnings"`
}

type searcheds []Searched

func (s *searcheds) UnmarshalJSON(text []byte) (err error) {
	seen := map[string]bool{}
	*s, err = decodeList(text, "programs", maxResults, func(d *searchedDoc) (Searched, error) {
		switch {
		case d.Benchmark == "":
			return Searched{}, fmt.Errorf("program %d has no benchmark", len(seen)+1)
		case seen[d.Benchmark]:
			return Searched{}, fmt.Errorf("benchmark %q occurs twice", d.Benchmark)
		}
		seen[d.Benchmark] = true
		d.Searched.Inputs, d.Searched.Unreached, d.Searched.Warnings = d.Inputs, d.Unreached, d.Warnings
		return d.Searched, d.check()
	})
	return err
}

func (s *Searched) check() error {
	b := &s.Blocks
	if len(s.Object) > maxFileName || len(s.Program) > maxSourceFunction {
		return fmt.Errorf("benchmark %q: its names are too long", s.Benchmark)
	}
	if s.Tried < 0 || s.Refused < 0 || s.Unsteady < 0 || bad(s.Elapsed) || b.Default < 0 || b.Reached < b.Default || b.Reachable() < b.Reached || b.All < b.Reachable() {
		return fmt.Errorf("benchmark %q: it has figures that cannot be", s.Benchmark)
	}
	return nil
}

// The limits of what an input holds: those of a suite's, or more.
const (
	maxInputs  = 1 << 16 // no program has as many blocks to reach
	maxPackets = 1 << 16 // per input
	maxEntries = 1 << 12 // per input
	maxHex     = 1 << 17 // digits of a packet, or of a key or a value
)

type foundInputs []FoundInput

func (f *foundInputs) UnmarshalJSON(text []byte) (err error) {
	*f, err = decodeList(text, "inputs of a program", maxInputs, func(d *foundInputDoc) (FoundInput, error) {
		d.FoundInput.Packets, d.FoundInput.Entries, d.FoundInput.Lines, d.FoundInput.Retvals = d.Packets, d.Entries, d.Lines, d.Retvals
		return d.FoundInput, d.check()
	})
	return err
}

type foundInputDoc struct {
	FoundInput
	Packets hexList      `json:"packets"`
	Entries foundEntries `json:"entries"`
	Retvals retvals      `json:"retvals"`
	Lines   sources      `json:"lines"`
}

func (f *FoundInput) check() error {
	if f.Name == "" || len(f.Name) > maxSourceFunction {
		return errors.New("an input has no name, or one that is too long")
	}
	if bad(f.PerRun) || f.Reached < 0 || f.New < 0 {
		return fmt.Errorf("the input %q has figures that cannot be", f.Name)
	}
	return errors.Join(checkHex(f.Context), f.Dearest.Check())
}

type hexList []string

func (h *hexList) UnmarshalJSON(text []byte) (err error) {
	*h, err = decodeList(text, "packets of an input", maxPackets, func(s *string) (string, error) { return *s, checkHex(*s) })
	return err
}

type foundEntries []FoundEntry

func (f *foundEntries) UnmarshalJSON(text []byte) (err error) {
	*f, err = decodeList(text, "entries of an input", maxEntries, func(e *FoundEntry) (FoundEntry, error) {
		if e.Map == "" || len(e.Map) > maxSourceFunction {
			return *e, errors.New("an entry has no map, or one whose name is too long")
		}
		return *e, errors.Join(checkHex(e.Key), checkHex(e.Value))
	})
	return err
}

type retvals []uint32

func (r *retvals) UnmarshalJSON(text []byte) (err error) {
	*r, err = decodeList(text, "return values of an input", maxPackets, func(v *uint32) (uint32, error) { return *v, nil })
	return err
}

type sources []Source

func (l *sources) UnmarshalJSON(text []byte) (err error) {
	*l, err = decodeList(text, "lines of source", maxExplainedLines, func(s *Source) (Source, error) { return *s, s.Check() })
	return err
}

func checkHex(s string) error {
	if len(s) > maxHex {
		return fmt.Errorf("an input has more than %d digits", maxHex)
	}
	if _, err := hex.DecodeString(s); err != nil {
		return fmt.Errorf("an input has bytes that are not hex digits: %w", err)
	}
	return nil
}
