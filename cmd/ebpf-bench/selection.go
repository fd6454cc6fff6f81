package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/programs"
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
	switch {
	case sel.suite != "" && len(args) > 0:
		return nil, fmt.Errorf("--suite %s and %s: name one suite", sel.suite, args[0])
	case sel.suite != "":
		args = []string{sel.suite}
	}
	s, err := sel.open(t, args)
	if err != nil {
		return nil, err
	}
	sel.all = namesOf(s)
	if err := s.Filter(re); err != nil {
		return nil, err
	}
	sel.total = len(s.Benchmarks)
	s.Benchmarks = shardOf(sel.shard, s.Benchmarks)
	return s, nil
}

// namesOf are the benchmarks of a suite as thresholds know them.
func namesOf(s *suite.Suite) []thresholds.Benchmark {
	var all []thresholds.Benchmark
	for i := range s.Benchmarks {
		b := &s.Benchmarks[i]
		all = append(all, thresholds.Benchmark{Name: b.Name, Driver: b.Driver()})
	}
	return all
}

// suiteFiles are the names of a folder's suite.
var suiteFiles = []string{"ebpf-bench.yml", "ebpf-bench.yaml"}

func (sel *selection) open(t *ui.Terminal, args []string) (*suite.Suite, error) {
	if len(args) > 0 {
		return suite.Load(suite.OS, filepath.ToSlash(args[0]))
	}
	for _, name := range suiteFiles {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			return suite.Load(suite.OS, name)
		}
	}
	t.Say("no ebpf-bench.yml here: taking the bundled suite")
	return bundled()
}

// bundled is the suite that the tool brings.
func bundled() (*suite.Suite, error) {
	s, err := suite.Load(programs.FS, programs.SuiteFile)
	if err != nil {
		return nil, err
	}
	s.Bring()
	return s, nil
}
