package sides

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/git"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// ListHint is the hint for a run that does not exist.
const ListHint = "ebpf-bench baseline list shows what there is, ebpf-bench run --save adds a run"

// stored opens the newest run that the baseline has by a name: latest, a run's
// ID, a tag or a branch.
func (o *opener) stored(ctx context.Context, arg, name string) (*Side, error) {
	meta, err := o.find(ctx, name)
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("%s: %w", arg, err), ListHint)
	}
	return o.load(ctx, arg, meta)
}

func (o *opener) find(ctx context.Context, name string) (baseline.Meta, error) {
	all, _, err := o.Store.List(ctx, baseline.Query{})
	if err != nil {
		return baseline.Meta{}, err
	}
	for _, means := range []func(baseline.Meta) bool{
		func(m baseline.Meta) bool { return m.ID == name },
		func(m baseline.Meta) bool { return slices.Contains(m.Tags, name) },
		func(m baseline.Meta) bool { return m.Branch == name && name != "" },
		func(baseline.Meta) bool { return name == "latest" },
	} {
		if found := slices.DeleteFunc(slices.Clone(all), func(m baseline.Meta) bool { return !means(m) }); len(found) > 0 {
			return o.choose(found), nil
		}
	}
	return baseline.Meta{}, fmt.Errorf("no run, tag or branch %q: %w", name, baseline.ErrNotFound)
}

// choose returns the newest of several runs that can be compared: one that has objects if
// the head has, or else numbers from its testbed, if there is such a run.
func (o *opener) choose(runs []baseline.Meta) baseline.Meta {
	for _, fits := range []func(baseline.Meta) bool{
		func(m baseline.Meta) bool { return o.measured(m) && o.near != nil && o.near(m) },
		o.measured,
	} {
		if i := slices.IndexFunc(runs, fits); i >= 0 {
			return runs[i]
		}
	}
	return runs[0]
}

// measured reports whether a run can be measured again if the head can.
func (o *opener) measured(m baseline.Meta) bool { return !o.headObjects || len(m.Digests) > 0 }

// revision opens the newest run that the baseline has of a git revision.
func (o *opener) revision(ctx context.Context, rev string) (*Side, error) {
	commit, err := git.Commit(ctx, rev)
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("%s is not a file, and no git revision: %w", rev, err), o.revisionHint(ctx, rev))
	}
	all, _, err := o.Store.List(ctx, baseline.Query{Commit: commit})
	switch {
	case err == nil && len(all) > 0:
		return o.load(ctx, rev, o.choose(all))
	case err == nil || errors.Is(err, baseline.ErrNotFound):
		return nil, bench.WithHint(fmt.Errorf("the baseline has no run of %s (commit %.12s)", rev, commit),
			"check it out, build it, and save a run with ebpf-bench run --save; or pass its object files")
	}
	return nil, err
}

// revisionHint suggests what was meant by something that is not a revision:
// main: is baseline:main the wrong way round.
func (o *opener) revisionHint(ctx context.Context, rev string) string {
	if name, _, ok := strings.Cut(rev, ":"); ok && name != "" && (o.has(ctx, name) || git.IsBranch(ctx, name)) {
		return fmt.Sprintf("for what the baseline has of %s, give baseline:%s", name, name)
	}
	return o.help()
}

func (o *opener) has(ctx context.Context, name string) bool {
	_, err := o.find(ctx, name)
	return err == nil
}

// load opens a run of the baseline with its objects and the suite that measured
// it.
func (o *opener) load(ctx context.Context, arg string, meta baseline.Meta) (*Side, error) {
	entry, err := o.Store.Load(ctx, meta.ID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	s := &Side{Side: bench.Side{Name: arg, Commit: entry.Commit, Branch: entry.Branch}, Runs: []*bench.Run{entry.Run}}
	seen := map[string]bool{}
	for _, r := range entry.Run.Results {
		for _, o := range r.Objects() {
			if data := entry.Objects[o.SHA256]; data != nil && !seen[o.Path] {
				seen[o.Path] = true
				s.Objects = append(s.Objects, suite.NewObject(o.Path, data))
			}
		}
	}
	if len(s.Objects) == 0 {
		return s, nil
	}
	if s.Suite, err = storedSuite(entry); s.Suite != nil {
		// A run of some benchmarks may not need all of them.
		for _, o := range s.Suite.Objects {
			if !seen[o.Path] {
				s.Objects = append(s.Objects, o)
			}
		}
	}
	return s, err
}

// storedSuite returns the suite of a stored run, or nil if it was stored
// without.
func storedSuite(entry *baseline.Entry) (*suite.Suite, error) {
	for name := range entry.Files {
		if ext := path.Ext(name); !strings.Contains(name, "/") && (ext == ".yml" || ext == ".yaml") {
			files := map[string][]byte{}
			for name, data := range entry.Files {
				files[name] = data
			}
			for _, r := range entry.Run.Results {
				for _, o := range r.Objects() {
					if data := entry.Objects[o.SHA256]; data != nil {
						files[path.Clean(o.Path)] = data
					}
				}
			}
			s, err := suite.Load(suite.Memory(files), name)
			if err != nil {
				return nil, fmt.Errorf("the suite of run %s: %w", entry.ID, err)
			}
			return s, nil
		}
	}
	return nil, nil
}
