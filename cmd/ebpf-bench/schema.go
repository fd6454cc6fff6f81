package main

import (
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/thresholds"
)

// schemas are the JSON Schemas of the files that people write, and of results.
var schemas = map[string][]byte{"suite": suite.Schema, "thresholds": thresholds.Schema, "results": bench.Schema}

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [suite|thresholds|results]",
		Short: "Print the JSON Schema of the suite, the thresholds or results",
		Long: "Print the JSON Schema of the suite file, of the thresholds file, or of results as\nJSON, which docs/results-json.md describes. An editor with a YAML language server finds it by this comment at the top of a suite:\n\n" +
			"  # yaml-language-server: $schema=" + suite.SchemaURL + "\n\nor of thresholds:\n\n" +
			"  # yaml-language-server: $schema=" + thresholds.SchemaURL,
		Example:   "  ebpf-bench schema > ebpf-bench.schema.json\n  ebpf-bench schema thresholds > thresholds.schema.json",
		Args:      cli.UsageArgs(cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs)),
		ValidArgs: []string{"suite", "thresholds", "results"},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "suite"
			if len(args) > 0 {
				name = args[0]
			}
			_, err := cmd.OutOrStdout().Write(schemas[name])
			return err
		},
	}
}
