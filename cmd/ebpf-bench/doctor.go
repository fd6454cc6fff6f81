package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/probe"
)

func newDoctorCommand(t *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Say what this kernel and machine can measure",
		Long:    "Say what this kernel and machine can measure, and what is lost where they cannot.\nEach answer comes from trying; nothing is left behind.",
		Example: "  sudo ebpf-bench doctor",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := probe.Doctor(cmd.Context())
			if asJSON {
				return json.NewEncoder(t.stdout).Encode(findings)
			}
			return printFindings(t, findings)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printFindings(t *terminal, findings []probe.Finding) error {
	var b strings.Builder
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Name))
	}
	color := t.colored(t.stdout)
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %-*s  %s\n", mark(f.Answer, color), width, f.Name, f.For)
		indent := strings.Repeat(" ", 8)
		for _, line := range []struct{ label, text string }{{"why", f.Reason}, {"cost", f.Cost}, {"fix", f.Fix}} {
			if line.text != "" {
				fmt.Fprintf(&b, "%s%-5s %s\n", indent, line.label, clean(line.text))
			}
		}
	}
	_, err := fmt.Fprint(t.stdout, b.String())
	return err
}

func mark(a probe.Answer, color bool) string {
	s := fmt.Sprintf("%-7s", a)
	if !color {
		return s
	}
	c := map[probe.Answer]text.Color{probe.Yes: text.FgGreen, probe.No: text.FgYellow, probe.Unknown: text.FgRed}[a]
	return c.EscapeSeq() + s + text.Reset.EscapeSeq()
}
