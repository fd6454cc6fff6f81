package main

import (
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/baseline"
)

// storeFlag is where the baseline is.
type storeFlag struct{ folder string }

func (f *storeFlag) register(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.folder, "store", baseline.DefaultDir, "the `folder` of the baseline")
	_ = cmd.MarkPersistentFlagDirname("store")
}

func (f *storeFlag) open() baseline.Store { return baseline.Open(f.folder) }
