package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// selection is the suite and the benchmarks that a command applies to.
type selection struct {
	// suite is the suite file from a flag, if any.
	suite  string
	filter string
	shard  cli.Shard
}

func (sel *selection) register(cmd *cobra.Command) {
	cli.SuiteFlag(cmd, &sel.suite, "the suite `file`, which may be an argument too (default: ./ebpf-bench.yml, else the bundled one)")
	cmd.Flags().StringVar(&sel.filter, "filter", "", "only benchmarks whose name matches this `regexp`")
	sel.shard.Register(cmd)
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yml", "yaml"}, cobra.ShellCompDirectiveFilterFileExt)
}

// file returns the suite file that a flag or an argument names, empty if neither does.
func (sel *selection) file(args []string) (string, error) {
	switch {
	case sel.suite != "" && len(args) > 0:
		return "", fmt.Errorf("--suite %s and %s: name one suite", sel.suite, args[0])
	case len(args) > 0:
		return args[0], nil
	}
	return sel.suite, nil
}

// load reads the suite with the selected benchmarks.
func (sel *selection) load(t *ui.Terminal, args []string) (*measure.Selected, error) {
	file, err := sel.file(args)
	if err != nil {
		return nil, err
	}
	s, err := measure.Select(file, sel.filter, sel.shard.Shard)
	if s != nil {
		t.Tell(s.Notes...)
	}
	return s, err
}
