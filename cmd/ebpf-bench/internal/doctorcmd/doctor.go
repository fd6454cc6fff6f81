// Package doctorcmd implements the command ebpf-bench doctor, which runs the probes of
// package probe on this machine or on kernels in virtual machines, side by side.
package doctorcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// New returns the command.
func New(t *ui.Terminal) *cobra.Command {
	var asJSON bool
	var flags cli.MachineFlags
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Show what this kernel and machine can measure",
		Long:    "Show what this kernel and machine can measure, and what they cannot. Each answer\ncomes from trying it; nothing is left behind.",
		Example: "  sudo ebpf-bench doctor\n\n  # what another kernel can measure, tried in a virtual machine\n  ebpf-bench doctor --kernel 5.10\n\n  # several kernels\n  ebpf-bench doctor --kernel 5.10,6.1,6.12",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			kernels := flags.Choose(nil)
			if len(kernels) > 1 {
				return compareKernels(cmd.Context(), t, &flags, kernels, asJSON)
			}
			k, err := examine(cmd.Context(), t, &flags, kernels)
			switch {
			case err != nil:
				return err
			case asJSON:
				return json.NewEncoder(t.Stdout).Encode(k.answers())
			}
			return printFindings(t, k)
		},
	}
	flags.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// examine probes this machine, or a kernel if there is one.
func examine(ctx context.Context, t *ui.Terminal, flags *cli.MachineFlags, kernels []string) (*examined, error) {
	if len(kernels) == 0 {
		if err := probe.NotStuck(ctx); err != nil {
			return nil, exit.NoMeasure(err)
		}
		return &examined{release: probe.Testbed().Kernel, mode: bench.ModeHost, findings: probe.Doctor(ctx)}, nil
	}
	m, err := flags.Open(cli.Watch{Terminal: t}, kernels)
	if err != nil {
		return nil, err
	}
	return examineOn(ctx, m, kernels[0])
}

// answer is the JSON of a finding, with the kernel that it is for.
type answer struct {
	probe.Finding
	Kernel string     `json:"kernel"`
	Mode   bench.Mode `json:"mode"`
}

func (k *examined) answers() []answer {
	all := []answer{}
	for _, f := range k.findings {
		all = append(all, answer{f, k.release, k.mode})
	}
	return all
}

func printFindings(t *ui.Terminal, k *examined) error {
	var b strings.Builder
	width := 0
	for _, f := range k.findings {
		width = max(width, len(f.Name))
	}
	const indent = 7 // the longest answer
	color, columns := t.Colored(t.Stdout), t.Columns()
	fmt.Fprintf(&b, "Linux %s · %s\n\n", ui.Clean(k.release), modeWords[k.mode])
	unasked := false
	for _, f := range k.findings {
		fmt.Fprintf(&b, "%s%*s %-*s  %s\n", mark(f.Answer).Text(color), indent-len(f.Answer), "", width, f.Name, ui.Wrap(f.For, columns, indent+width+3))
		if f.Reason == probe.NeedsRoot {
			unasked = true
			continue
		}
		for _, line := range []struct{ label, text string }{{"why", f.Reason}, {"cost", f.Cost}, {"fix", f.Fix}} {
			if line.text != "" {
				fmt.Fprintf(&b, "%*s%-5s %s\n", indent+1, "", line.label, ui.Wrap(ui.Clean(line.text), columns, indent+7))
			}
		}
	}
	if unasked {
		b.WriteString("\n" + ui.Wrap("Only root gets the answers that are unknown here. Without root, --kernel 6.12 asks a kernel in a virtual machine.", columns, 0) + "\n")
	}
	_, err := fmt.Fprint(t.Stdout, b.String())
	return err
}

// modeWords describe how the probed kernel runs.
var modeWords = map[bench.Mode]string{
	bench.ModeHost:  "this host",
	bench.ModeExact: "exact: emulated by QEMU, instructions counted",
	bench.ModeKVM:   "in a virtual machine, by KVM",
}

// mark returns an answer in its color.
func mark(a probe.Answer) grid.Cell {
	return grid.Figure(string(a)).Paint(map[probe.Answer]grid.Style{probe.Yes: grid.Green, probe.No: grid.Yellow, probe.Unknown: grid.Red}[a])
}
