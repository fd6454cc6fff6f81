package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// matrix is the JSON of several runs: one suite on several kernels.
type matrix struct {
	Version int    `json:"version"`
	Runs    []*Run `json:"runs"`
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

// DecodeAll reads what EncodeAll writes, and checks each run as Decode does.
func DecodeAll(r io.Reader) ([]*Run, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxRunSize+1))
	if err != nil {
		return nil, fmt.Errorf("decode runs: %w", err)
	}
	var doc struct {
		Runs []json.RawMessage `json:"runs"`
	}
	// What is no JSON at all, Decode says better.
	if err := json.Unmarshal(text, &doc); err != nil || doc.Runs == nil {
		run, err := Decode(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return []*Run{run}, nil
	}
	var runs []*Run
	for _, text := range doc.Runs {
		run, err := Decode(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}
