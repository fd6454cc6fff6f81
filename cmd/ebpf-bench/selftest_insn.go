package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/internal/vm"
)

const insnExample = `  # the programs of some objects, on this host
  sudo ebpf-bench selftest insn build/*.o

  # on other kernels, each program run a hundred times
  ebpf-bench selftest insn --kernel 5.10,6.12 --repeat 100 build/*.o`

// insnFlags are how the counting of instructions is tested.
type insnFlags struct {
	machines cli.MachineFlags
	repeat   int
	format   string
}

func newInsnCommand(t *ui.Terminal) *cobra.Command {
	var f insnFlags
	cmd := &cobra.Command{
		Use:     "insn [flags] OBJECT...",
		Short:   "Test whether instructions are counted exactly",
		Long:    "Test whether instructions are counted exactly, with every program of the objects\nthat loads: whether it also loads with counters, and where BPF_PROG_TEST_RUN can\nrun it, whether it then does the same, the same number of times in each repeat,\nby both ways to place counters, and as often as an interpreter says.",
		Example: insnExample,
		Args:    cli.UsageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.repeat < 1:
				return cli.UsageError(cmd, fmt.Errorf("--repeat %d: it takes at least one", f.repeat))
			case f.format != "text" && f.format != "json":
				return cli.UsageError(cmd, fmt.Errorf("--format %s: it is text or json", f.format))
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.machines.Register(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.repeat, "repeat", 3, "how often to run each program, on the same packets from the same start")
	flags.StringVar(&f.format, "format", "text", "what to print on stdout: text or json")
	return cmd
}

func (f *insnFlags) run(ctx context.Context, t *ui.Terminal, names []string) error {
	objects, err := readObjectFiles(names)
	if err != nil {
		return err
	}
	reports, err := f.measure(ctx, t, objects)
	print := printInsn
	if f.format == "json" {
		print = encodeTested[*insnReport]
	}
	if len(reports) > 0 {
		err = errors.Join(print(t.Stdout, reports), err)
	}
	if err != nil {
		return exit.NoMeasure(err)
	}
	for _, r := range reports {
		if n := r.Total.wrong(); n > 0 {
			err = errors.Join(err, fmt.Errorf("%s counted wrongly, or changed by being counted, on Linux %s", unit.Plural(n, "program"), r.Testbed.Kernel))
		}
	}
	if err != nil {
		return exit.Regressed(err)
	}
	return nil
}

// measure tests on this host, or on the kernels that are named.
func (f *insnFlags) measure(ctx context.Context, t *ui.Terminal, objects []objectFile) ([]*insnReport, error) {
	kernels := f.machines.Choose(nil)
	if len(kernels) == 0 {
		r, err := testInsn(ctx, t, objects, f.repeat)
		if err != nil {
			return nil, err
		}
		return []*insnReport{r}, nil
	}
	m, err := f.machines.Open(t, kernels)
	if err != nil {
		return nil, err
	}
	return fleet.Each(kernels, func(_ int, name string) (*insnReport, error) {
		began := time.Now()
		r, err := f.onKernel(ctx, m, name, objects)
		if err == nil {
			t.Say("tested on Linux %s in %.1f s", r.Testbed.Kernel, time.Since(began).Seconds())
		}
		return r, err
	})
}

// onKernel has this command do the same in a virtual machine.
func (f *insnFlags) onKernel(ctx context.Context, m *fleet.Fleet, name string, objects []objectFile) (*insnReport, error) {
	g := fleet.Guest{Files: map[string][]byte{}, At: func() string { return "testing" }}
	args := append([]string{"selftest", "insn", "--format", "json", "--repeat", strconv.Itoa(f.repeat), "--"}, giveObjects(&g, objects)...)
	g.Args = func(vm.Mode) []string { return args }
	r, info, err := reportOf[insnReport](ctx, m, name, g)
	if err != nil {
		return nil, err
	}
	measuredBy(&r.Testbed, info)
	r.rename(func(file string) string { return nameHere(objects, file) })
	return r, nil
}
