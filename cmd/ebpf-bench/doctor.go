package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/probe"
)

func newDoctorCommand(t *terminal) *cobra.Command {
	var asJSON bool
	var flags machineFlags
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Say what this kernel and machine can measure",
		Long:    "Say what this kernel and machine can measure, and what is lost where they cannot.\nEach answer comes from trying; nothing is left behind.",
		Example: "  sudo ebpf-bench doctor\n\n  # what another kernel can, asked in a virtual machine\n  ebpf-bench doctor --kernel 5.10\n\n  # what each of several can\n  ebpf-bench doctor --kernel 5.10,6.1,6.12",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			kernels := flags.choose(nil)
			if len(kernels) > 1 {
				return compareKernels(cmd.Context(), t, &flags, kernels, asJSON)
			}
			findings, err := examine(cmd.Context(), t, &flags, kernels)
			switch {
			case err != nil:
				return err
			case asJSON:
				return json.NewEncoder(t.stdout).Encode(findings)
			}
			return printFindings(t, findings)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// examine asks this machine, or a kernel if there is one.
func examine(ctx context.Context, t *terminal, flags *machineFlags, kernels []string) ([]probe.Finding, error) {
	if len(kernels) == 0 {
		return probe.Doctor(ctx), nil
	}
	m, err := flags.open(t, kernels)
	if err != nil {
		return nil, err
	}
	findings, _, err := m.examine(ctx, kernels[0])
	return findings, err
}

func printFindings(t *terminal, findings []probe.Finding) error {
	var b strings.Builder
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Name))
	}
	color := t.colored(t.stdout)
	const indent = 7 // the longest answer
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %-*s  %s\n", mark(f.Answer, indent, color), width, f.Name, f.For)
		for _, line := range []struct{ label, text string }{{"why", f.Reason}, {"cost", f.Cost}, {"fix", f.Fix}} {
			if line.text != "" {
				fmt.Fprintf(&b, "%*s%-5s %s\n", indent+1, "", line.label, clean(line.text))
			}
		}
	}
	_, err := fmt.Fprint(t.stdout, b.String())
	return err
}

// mark is an answer that fills a width, with color on the word alone.
func mark(a probe.Answer, width int, color bool) string {
	if !color {
		return fmt.Sprintf("%-*s", width, a)
	}
	c := map[probe.Answer]text.Color{probe.Yes: text.FgGreen, probe.No: text.FgYellow, probe.Unknown: text.FgRed}[a]
	return fmt.Sprintf("%s%s%s%*s", c.EscapeSeq(), a, text.Reset.EscapeSeq(), width-len(a), "")
}
