package bench

import (
	"bytes"
	"encoding/json"
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
