package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Part is a file of results that is to be merged with others.
type Part struct {
	Name string
	Results
}

// DecodePart reads what any of the encoders writes, also what a shard without
// benchmarks leaves, and what was judged: of that, what was measured.
func DecodePart(name string, r io.Reader) (*Part, error) {
	results, err := decodePart(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &Part{name, *results}, nil
}

func decodePart(r io.Reader) (*Results, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxRunSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > MaxRunSize:
		return nil, fmt.Errorf("larger than %d MiB", MaxRunSize>>20)
	}
	var kind struct {
		Version int     `json:"version"`
		Tables  tables  `json:"tables"`
		Shard   *Shard  `json:"shard"`
		Results present `json:"results"`
	}
	if err := decodeDocument(bytes.NewReader(text), &kind); err != nil {
		return nil, err
	}
	switch {
	case kind.Tables != nil && kind.Version != JudgedVersion:
		return nil, fmt.Errorf("version %d of a judged comparison is not known, this ebpf-bench reads version %d", kind.Version, JudgedVersion)
	case kind.Tables != nil:
		return &Results{Comparisons: kind.Tables}, nil
	case kind.Shard != nil && bool(kind.Results):
		run, err := Decode(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return &Results{Runs: []*Run{run}}, nil
	}
	return decodeResults(text)
}

// JudgedVersion is the version of a judged comparison's JSON, which has the
// Comparison that is read here, and verdicts. It grows when a reader of the
// previous version would misread the document; new fields do not change it.
const JudgedVersion = 1

// tables are those of a judged comparison.
type tables []*Comparison

func (t *tables) UnmarshalJSON(text []byte) (err error) {
	*t, err = decodeList(text, "tables", maxRuns, func(d *struct {
		Comparison json.RawMessage `json:"comparison"`
	},
	) (*Comparison, error) {
		return DecodeComparison(bytes.NewReader(d.Comparison))
	})
	if err == nil && *t != nil && len(*t) == 0 {
		err = errors.New("the document has no tables: nothing was compared")
	}
	return err
}
