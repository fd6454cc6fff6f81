package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/vm"
)

func newDoctorCommand(t *terminal) *cobra.Command {
	var asJSON bool
	var flags machineFlags
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Say what this kernel and machine can measure",
		Long:    "Say what this kernel and machine can measure, and what is lost where they cannot.\nEach answer comes from trying; nothing is left behind.",
		Example: "  sudo ebpf-bench doctor\n\n  # what another kernel can, asked in a virtual machine\n  ebpf-bench doctor --kernel 5.10",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(flags.kernels) > 1 {
				return usageError(cmd, errors.New("doctor takes one kernel at a time"))
			}
			findings, err := examine(cmd.Context(), t, &flags)
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

// examine asks this machine, or the kernel that the flags name.
func examine(ctx context.Context, t *terminal, flags *machineFlags) ([]probe.Finding, error) {
	if len(flags.kernels) == 0 || flags.mode == "off" {
		return probe.Doctor(ctx), nil
	}
	m, err := flags.open(t)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	ask := guest{args: func(vm.Mode) []string { return []string{"doctor", "--json"} }, stdout: &out}
	if _, err := m.run(ctx, flags.kernels[0], ask); err != nil {
		return nil, err
	}
	var findings []probe.Finding
	if err := json.Unmarshal(out.Bytes(), &findings); err != nil {
		return nil, fmt.Errorf("read the guest's answers: %w", err)
	}
	return findings, nil
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
