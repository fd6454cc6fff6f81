package action

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/bench/merge"
	"github.com/org/ebpf-bench-action/internal/input"
	"github.com/org/ebpf-bench-action/internal/strictjson"
)

// These limits bound what a stranger may have written, far above any honest suite, so that
// it cannot keep the job that reports busy.
const (
	// maxResultFiles is how many files of results are merged: no matrix has more jobs.
	maxResultFiles = 256
	// maxResultBytes is the total size of the files. maxReported is how many benchmarks
	// they have, counted once per kernel.
	maxResultBytes = 64 << 20
	maxReported    = 10_000
)

// readResults reads a file of results that a stranger may have written. If judged is set,
// it accepts results that were judged as well.
func readResults(name string, judged bool) (*bench.Part, error) {
	file, err := input.Regular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxResultBytes+1))
	if err == nil && len(text) > maxResultBytes {
		err = fmt.Errorf("larger than %d MiB", maxResultBytes>>20)
	}
	if err == nil && (!judged || !isJudged(text)) {
		err = checkKeys(bytes.NewReader(text))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	part, err := bench.DecodePart(name, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return part, checkCount(&part.Results)
}

// isJudged reports whether compare or merge wrote the results. The verdicts in them are
// for people, and are not read.
func isJudged(text []byte) bool {
	var doc struct {
		Outcome string `json:"outcome"`
	}
	return json.Unmarshal(text, &doc) == nil && doc.Outcome != ""
}

// errNoResults says that no file of results was found.
var errNoResults = errors.New("no file matches")

func checkCount(results *bench.Results) error {
	n := 0
	for _, run := range results.Runs {
		n += len(run.Results)
	}
	for _, c := range results.Comparisons {
		n += len(c.Pairs) + len(c.Confirmed)
	}
	if n > maxReported {
		return fmt.Errorf("the results have %d benchmarks, and no more than %d are reported", n, maxReported)
	}
	return nil
}

// readAllResults reads the files that match a pattern as one. Notes name results of
// earlier attempts of the workflow. If shards are missing, it returns the others, and
// missing says which.
func readAllResults(pattern string, judged bool) (results *bench.Results, notes []string, missing, err error) {
	names, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		return nil, nil, nil, fmt.Errorf("%q: %w", pattern, err)
	case len(names) == 0:
		return nil, nil, nil, bench.WithHint(fmt.Errorf("%w %q", errNoResults, pattern), "name the files of the output results of each job that measured, such as results/*/results.json")
	case len(names) > maxResultFiles:
		return nil, nil, nil, fmt.Errorf("%q matches more than %d files", pattern, maxResultFiles)
	}
	slices.Sort(names)
	if err := checkTotal(names); err != nil {
		return nil, nil, nil, err
	}
	var parts []*bench.Part
	for _, name := range names {
		p, err := readResults(name, judged)
		if err != nil {
			return nil, nil, nil, err
		}
		parts = append(parts, p)
	}
	results, notes, missing = merge.Results(parts)
	if results == nil {
		return nil, nil, nil, missing
	}
	return results, notes, missing, checkCount(results)
}

// checkTotal bounds the total size of the files as readResults bounds each.
func checkTotal(names []string) error {
	var total int64
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		if total += info.Size(); total > maxResultBytes {
			return fmt.Errorf("the files are larger than %d MiB together", maxResultBytes>>20)
		}
	}
	return nil
}

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// checkKeys refuses keys that no file of results has.
func checkKeys(r io.Reader) error {
	return strictjson.CheckKeys(r, "results", reflect.TypeFor[bench.Results]())
}
