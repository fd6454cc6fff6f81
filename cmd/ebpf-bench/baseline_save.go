package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// origin is where the objects of a run come from.
type origin struct {
	branch, commit string
	tags           []string
}

func (o *origin) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.branch, "branch", "", "the `branch` that the objects come from (default: git's)")
	flags.StringVar(&o.commit, "commit", "", "the `commit` that they come from (default: git's)")
	flags.StringSliceVar(&o.tags, "tag", nil, "mark the run with this `tag`; may be repeated")
}

// complete asks git for what the user does not say.
func (o *origin) complete(ctx context.Context, t *terminal) {
	git := func(args ...string) string {
		out, err := exec.CommandContext(ctx, "git", args...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	if o.branch == "" {
		o.branch = git("branch", "--show-current")
	}
	if o.commit == "" {
		o.commit = git("rev-parse", "--verify", "--quiet", "HEAD")
		if o.commit != "" && git("status", "--porcelain", "--untracked-files=no") != "" {
			t.say("warning: ", "the working tree has changes that commit %.12s does not have", o.commit)
		}
	}
}

func (b *baselineCommand) save() *cobra.Command {
	var from origin
	sel := selection{}
	var suiteFile string
	cmd := &cobra.Command{
		Use:     "save RESULT",
		Short:   "Keep the results of a run, with its objects",
		Long:    "Keep the results of a run (ebpf-bench run --out), with the objects that it\nmeasured, so that a later comparison can measure them again.",
		Example: "  sudo ebpf-bench run --out result.json\n  ebpf-bench baseline save result.json",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := readRunFile(args[0])
			if err != nil {
				return usage(err)
			}
			var names []string
			if suiteFile != "" {
				names = []string{suiteFile}
			}
			s, err := sel.open(b.t, names)
			if err != nil {
				return usage(err)
			}
			from.complete(cmd.Context(), b.t)
			return saveRuns(cmd.Context(), b.t, b.open(), s, runs, from)
		},
	}
	from.register(cmd)
	cmd.Flags().StringVar(&suiteFile, "suite", "", "the suite `file` of the run (default: ebpf-bench.yml)")
	_ = cmd.MarkFlagFilename("suite", "yml", "yaml")
	return cmd
}

func readRunFile(name string) ([]*bench.Run, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	runs, err := bench.DecodeAll(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return runs, nil
}

// saveRuns keeps runs of a suite.
func saveRuns(ctx context.Context, t *terminal, store baseline.Store, s *suite.Suite, runs []*bench.Run, from origin) error {
	var errs []error
	for _, run := range runs {
		began := time.Now()
		entry, err := newEntry(s, run, from)
		if err != nil {
			return usage(err)
		}
		meta, err := store.Save(ctx, entry)
		if err != nil {
			errs = append(errs, fmt.Errorf("save to the baseline: %w", err))
			continue
		}
		t.saved(meta, time.Since(began))
	}
	return noMeasure(errors.Join(errs...))
}

// newEntry is a run with all that it takes to measure it again.
func newEntry(s *suite.Suite, run *bench.Run, from origin) (*baseline.Entry, error) {
	if run.Partial {
		return nil, errors.New("the run is partial: a baseline that lacks benchmarks would hide regressions")
	}
	e := &baseline.Entry{
		Meta:    baseline.Meta{Branch: from.branch, Commit: from.commit, Tags: from.tags, Time: run.Started},
		Run:     run,
		Objects: map[string][]byte{},
		Files:   storedFiles(s),
		Points:  points(run),
	}
	if run.Testbed.Mode == bench.ModeExact {
		// The clock of the machine that counts always begins at the same time.
		e.Time = time.Now().UTC().Truncate(time.Second)
	}
	have := map[string][]byte{}
	for _, o := range s.Objects {
		have[o.SHA256] = o.Data
	}
	for _, r := range run.Results {
		data, ok := have[r.ObjectSHA256]
		if !ok {
			return nil, bench.WithHint(fmt.Errorf("%s: %s is not the object that was measured (SHA-256 %.12s)", r.Benchmark, r.Object, r.ObjectSHA256),
				"measure again, and save before the objects are built anew; or name the run's suite by --suite")
		}
		e.Objects[r.ObjectSHA256] = data
	}
	return e, nil
}

// points are the centers of all that was measured.
func points(run *bench.Run) []baseline.Point {
	var all []baseline.Point
	for _, r := range run.Results {
		for _, s := range r.Samples {
			if sum := stat.Summarize(s); sum.N > 0 {
				all = append(all, baseline.Point{Benchmark: r.Benchmark, Measure: s.Measure.Name, Value: sum.Center})
			}
		}
	}
	return all
}

// storedFiles are the files of a suite beside its objects, by their paths
// relative to the suite file. A suite that reads files from elsewhere could
// not be read again from what is stored, so of that nothing is.
func storedFiles(s *suite.Suite) map[string][]byte {
	objects := map[string]bool{}
	for _, o := range s.Objects {
		objects[o.SHA256] = true
	}
	dir := path.Dir(s.File)
	files := map[string][]byte{}
	for name, data := range s.Files() {
		rel, ok := below(dir, name)
		if !ok {
			return nil
		}
		if !objects[suite.NewObject("", data).SHA256] {
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

// below is a path relative to a folder, if it leads below it.
func below(dir, name string) (string, bool) {
	dir, name = path.Clean(dir), path.Clean(name)
	if dir != "." {
		rest, ok := strings.CutPrefix(name, dir+"/")
		return rest, ok && !strings.HasPrefix(rest, "../")
	}
	return name, !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
}
