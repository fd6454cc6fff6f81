package bench

import (
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
