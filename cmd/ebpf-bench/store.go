package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/thresholds"
)

// storeFlag is where the baseline is.
type storeFlag struct {
	folder string
	// warn says, once, what is wrong with a file of the baseline.
	warn func(baseline.Problem)
}

func (f *storeFlag) register(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.folder, "store", baseline.DefaultDir, "the `folder` of the baseline")
	_ = cmd.MarkPersistentFlagDirname("store")
	said := map[string]bool{}
	f.warn = func(p baseline.Problem) {
		if said[p.File] {
			return
		}
		said[p.File] = true
		t := ui.New(io.Discard, cmd.ErrOrStderr())
		t.Warn("%v", p)
		if hint := bench.Hint(p); hint != "" {
			t.Hint("%s", hint)
		}
	}
}

// open is the baseline for who looks for a run in it. What is damaged is told,
// because another run may be found than the one that is meant.
func (f *storeFlag) open() baseline.Store { return baseline.Told(baseline.Open(f.folder), f.warn) }

// shadows says which branch nobody could name any more if a tag was called so.
func (f *storeFlag) shadows(ctx context.Context, tag string) error {
	runs, _, err := f.open().List(ctx, baseline.Query{Branches: []string{tag}, Limit: 1})
	if err != nil || len(runs) == 0 {
		return err
	}
	return fmt.Errorf("no tag can be called %s: there are runs of a branch of that name, and baseline:%s is the newest of these", tag, tag)
}

// judge judges by a policy, and by the history that the baseline has.
func (f *storeFlag) judge(policy *thresholds.Policy, strict bool) *judge.Judge {
	return &judge.Judge{Policy: policy, Strict: strict, Store: f.open(), Where: f.folder}
}
