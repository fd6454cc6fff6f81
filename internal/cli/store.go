package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// Store is the flag that says where the baseline is.
type Store struct {
	Folder string
	// warn reports a problem with a file of the baseline, once per file.
	warn func(baseline.Problem)
}

// Register adds --store to a command and those below it.
func (f *Store) Register(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.Folder, "store", folder.DefaultDir, "the `folder` of the baseline")
	_ = cmd.MarkPersistentFlagDirname("store")
	warned := map[string]bool{}
	f.warn = func(p baseline.Problem) {
		if warned[p.File] {
			return
		}
		warned[p.File] = true
		t := ui.New(io.Discard, cmd.ErrOrStderr())
		t.Warn("%v", p)
		if hint := bench.Hint(p); hint != "" {
			t.Hint("%s", hint)
		}
	}
}

// Open returns the baseline for looking up runs. It warns about damage, because another
// run than the intended one may be found.
func (f *Store) Open() baseline.Store { return baseline.Warning(folder.Open(f.Folder), f.warn) }

// Shadows returns an error if a tag with that name would hide a branch.
func (f *Store) Shadows(ctx context.Context, tag string) error {
	runs, _, err := f.Open().List(ctx, baseline.Query{Branches: []string{tag}, Limit: 1})
	if err != nil || len(runs) == 0 {
		return err
	}
	return fmt.Errorf("no tag can be called %s: there are runs of a branch of that name, and baseline:%s is the newest of these", tag, tag)
}
