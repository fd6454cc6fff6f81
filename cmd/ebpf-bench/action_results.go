package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// maxResultFiles is how many files of results are merged: no matrix of jobs has
// more.
const maxResultFiles = 256

// readResults reads a file of results that a stranger may have written.
func readResults(name string) (*bench.Part, error) {
	file, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return bench.DecodePart(name, file)
}

// readAllResults reads the files that a pattern matches as one. Where shards of
// it are missing, there are the others, and missing says which.
func readAllResults(pattern string) (results *bench.Results, missing, err error) {
	names, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%q: %w", pattern, err)
	case len(names) == 0:
		return nil, nil, bench.WithHint(fmt.Errorf("no file matches %q", pattern), "Name the files of the output results of each job that measured, such as results/*/results.json.")
	case len(names) > maxResultFiles:
		return nil, nil, fmt.Errorf("%q matches more than %d files", pattern, maxResultFiles)
	}
	slices.Sort(names)
	if err := checkTotal(names); err != nil {
		return nil, nil, err
	}
	var parts []*bench.Part
	for _, name := range names {
		p, err := readResults(name)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, p)
	}
	results, missing = bench.Merge(parts)
	if results == nil {
		return nil, nil, missing
	}
	return results, missing, nil
}

// checkTotal bounds what files take together as each of them is bounded.
func checkTotal(names []string) error {
	var total int64
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		if total += info.Size(); total > bench.MaxRunSize {
			return fmt.Errorf("the files are larger than %d MiB together", bench.MaxRunSize>>20)
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
