package main

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/thresholds"
)

// selection is which benchmarks of which suite a command is about.
type selection struct {
	// suite is the suite file, if a flag names it.
	suite  string
	filter string
	shard  shardFlag
	// all are the benchmarks of the suite, also those that filter and shard leave
	// out; total is how many filter leaves.
	all   []thresholds.Benchmark
	total int
}

func (sel *selection) register(cmd *cobra.Command) {
	suiteFlag(cmd, &sel.suite, "the suite `file`, which may be an argument too (default: ./ebpf-bench.yml, else the bundled one)")
	cmd.Flags().StringVar(&sel.filter, "filter", "", "only benchmarks whose name matches this `regexp`")
	sel.shard.register(cmd)
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yml", "yaml"}, cobra.ShellCompDirectiveFilterFileExt)
}

// suiteFlag registers --suite. --config stands for it too: the action's input is
// called so.
func suiteFlag(cmd *cobra.Command, file *string, usage string) {
	for _, name := range []string{"suite", "config"} {
		cmd.Flags().StringVar(file, name, "", usage)
		_ = cmd.MarkFlagFilename(name, "yml", "yaml")
	}
	_ = cmd.Flags().MarkHidden("config")
}

// load reads the suite: the file given, else the one that lies in the current
// folder, else the bundled one.
func (sel *selection) load(t *ui.Terminal, args []string) (*suite.Suite, error) {
	re, err := regexp.Compile(sel.filter)
	if err != nil {
		return nil, fmt.Errorf("--filter: %w", err)
	}
	file := sel.suite
	switch {
	case file != "" && len(args) > 0:
		return nil, fmt.Errorf("--suite %s and %s: name one suite", file, args[0])
	case len(args) > 0:
		file = args[0]
	}
	s, err := openSuite(t, file)
	if err != nil {
		return nil, err
	}
	sel.all = sides.Benchmarks(s)
	if err := s.Filter(re); err != nil {
		return nil, err
	}
	sel.total = len(s.Benchmarks)
	s.Benchmarks = bench.PartOf(sel.shard.Shard, s.Benchmarks)
	return s, nil
}

// openSuite reads a suite, and says where it is the bundled one for want of another.
func openSuite(t *ui.Terminal, file string) (*suite.Suite, error) {
	s, err := suite.Open(file)
	sayBundled(t, s)
	return s, err
}

func sayBundled(t *ui.Terminal, s *suite.Suite) {
	if s != nil && s.Bundled {
		t.Say("no ebpf-bench.yml here: taking the bundled suite")
	}
}
