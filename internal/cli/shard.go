package cli

import (
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const shardUsage = "measure only this `part` of the benchmarks, such as 2/8, for ebpf-bench merge"

// Shard is the value of --shard; the zero value is everything.
type Shard struct{ *bench.Shard }

// Register adds --shard to a command.
func (f *Shard) Register(cmd *cobra.Command) {
	cmd.Flags().Var(f, "shard", shardUsage)
}

func (f *Shard) String() string {
	if f.Shard == nil {
		return ""
	}
	return f.Shard.String()
}

// Type implements pflag.Value.
func (f *Shard) Type() string { return "part" }

// Set parses the text form of a shard.
func (f *Shard) Set(text string) error {
	s, err := bench.ParseShard(text)
	f.Shard = &s
	return err
}
