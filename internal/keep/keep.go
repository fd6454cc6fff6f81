// Package keep turns a run and its suite into an entry of the baseline, with everything
// that is needed to measure the run again.
package keep

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// Origin is where the objects of a run come from.
type Origin struct {
	Branch, Commit string
	Tags           []string
}

// Entries returns the baseline's entries for runs of a suite that are fit to be compared
// with. The error says why the others are not.
func Entries(s *suite.Suite, runs []*bench.Run, from Origin) ([]*baseline.Entry, error) {
	var entries []*baseline.Entry
	var errs []error
	for _, run := range runs {
		e, err := newEntry(s, run, from)
		if err != nil {
			errs = append(errs, bench.WithHint(fmt.Errorf("not saved in the baseline: %w", err), bench.Hint(err)))
			continue
		}
		entries = append(entries, e)
	}
	return entries, errors.Join(errs...)
}

// newEntry returns a run with everything that is needed to measure it again.
func newEntry(s *suite.Suite, run *bench.Run, from Origin) (*baseline.Entry, error) {
	if run.Partial {
		return nil, errors.New("the run is partial: a baseline that lacks benchmarks would hide regressions")
	}
	if run.Shard != nil {
		return nil, bench.WithHint(fmt.Errorf("the run is shard %s of one: a baseline that lacks benchmarks would hide regressions", run.Shard),
			"join the shards by ebpf-bench merge, and save what comes of it")
	}
	e := &baseline.Entry{
		Meta:    baseline.Meta{Branch: from.Branch, Commit: from.Commit, Tags: from.Tags, Time: run.Started},
		Run:     run,
		Objects: map[string][]byte{},
		Files:   storedFiles(s, run),
		Points:  Points(run),
	}
	have, named := map[string][]byte{}, map[string]bool{}
	for _, o := range s.Objects {
		have[o.SHA256], named[o.Path] = o.Data, true
	}
	for _, r := range run.Results {
		if r.Error != "" {
			return nil, fmt.Errorf("%s failed: a baseline that lacks benchmarks would hide regressions", r.Benchmark)
		}
		if r.Ingested() {
			continue
		}
		for _, o := range r.Objects() {
			data, ok := have[o.SHA256]
			if !ok && !named[o.Path] {
				return nil, bench.WithHint(fmt.Errorf("%s: %s has no object %s", r.Benchmark, s.Name(), o.Path), "name the run's suite with --suite")
			}
			if !ok {
				return nil, bench.WithHint(fmt.Errorf("%s: %s is not the object that was measured (SHA-256 %.12s)", r.Benchmark, o.Path, o.SHA256),
					"measure again, and save before the objects are rebuilt")
			}
			e.Objects[o.SHA256] = data
		}
	}
	return e, nil
}

// Points returns the centers of all measures.
func Points(run *bench.Run) baseline.Points {
	all := make(baseline.Points)
	for _, r := range run.Results {
		for _, s := range r.Samples {
			if sum := stat.Summarize(s); sum.N > 0 {
				if all[s.Measure.Name] == nil {
					all[s.Measure.Name] = make(map[string]float64)
				}
				all[s.Measure.Name][r.Benchmark] = sum.Center
			}
		}
	}
	return all
}

// storedFiles returns the files of a suite, except the objects that a run measured, by
// their paths relative to the suite file: all of them, also if a run has some of the
// benchmarks, so that a comparison measures the others, too. If a suite reads files from
// elsewhere, it could not be read again from what is stored, so nothing of it is.
func storedFiles(s *suite.Suite, run *bench.Run) map[string][]byte {
	measured := map[string]bool{}
	for _, r := range run.Results {
		for _, o := range r.Objects() {
			measured[path.Clean(o.Path)] = true
		}
	}
	if len(measured) == 0 {
		return nil
	}
	dir := path.Dir(s.File)
	files := map[string][]byte{}
	for name, data := range s.Files() {
		rel, ok := below(dir, name)
		if !ok {
			return nil
		}
		if !measured[rel] {
			files[rel] = data
		}
	}
	for _, o := range s.Objects {
		if _, ok := below(".", path.Clean(o.Path)); !ok {
			return nil
		}
	}
	return files
}

// below returns a path relative to a folder, if it leads below it.
func below(dir, name string) (string, bool) {
	dir, name = path.Clean(dir), path.Clean(name)
	if dir != "." {
		rest, ok := strings.CutPrefix(name, dir+"/")
		return rest, ok && !strings.HasPrefix(rest, "../")
	}
	return name, !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
}
