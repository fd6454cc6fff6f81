package main

import (
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const shardUsage = "measure only this `part` of the benchmarks, such as 2/8, for ebpf-bench merge"

// shardFlag is the value of --shard; the zero one is everything.
type shardFlag struct{ *bench.Shard }

func (f *shardFlag) register(cmd *cobra.Command) {
	cmd.Flags().Var(f, "shard", shardUsage)
}

func (f *shardFlag) String() string {
	if f.Shard == nil {
		return ""
	}
	return f.Shard.String()
}

func (f *shardFlag) Type() string { return "part" }

// Set takes the shard as it is written.
func (f *shardFlag) Set(text string) error {
	s, err := bench.ParseShard(text)
	f.Shard = &s
	return err
}
