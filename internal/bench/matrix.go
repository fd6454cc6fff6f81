package bench

import (
	"encoding/json"
	"errors"
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

// DecodeAll reads what EncodeAll writes, and checks each run as Decode does. There
// is at least one, and none without results.
func DecodeAll(r io.Reader) ([]*Run, error) {
	doc, err := decodeRun(r)
	if err != nil {
		return nil, fmt.Errorf("decode runs: %w", err)
	}
	runs := doc.Runs
	if runs == nil {
		run, err := doc.run()
		if err != nil {
			return nil, fmt.Errorf("decode runs: %w", err)
		}
		runs = append(runs, run)
	}
	if len(runs) == 0 {
		return nil, errors.New("decode runs: there is no run in it")
	}
	for _, run := range runs {
		if len(run.Results) == 0 {
			return nil, errors.New("decode runs: there is a run without results in it")
		}
	}
	return runs, nil
}
