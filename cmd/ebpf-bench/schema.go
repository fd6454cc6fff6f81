package main

import (
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/suite"
)

func newSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the suite file",
		Long: "Print the JSON Schema of the suite file. An editor with a YAML language server\nfinds it by this comment at the top of a suite:\n\n" +
			"  # yaml-language-server: $schema=" + suite.SchemaURL,
		Example: "  ebpf-bench schema > ebpf-bench.schema.json",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(suite.Schema)
			return err
		},
	}
}
