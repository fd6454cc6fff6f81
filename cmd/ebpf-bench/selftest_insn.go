package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/vm"
)

const insnExample = `  # the programs of some objects, on this host
  sudo ebpf-bench selftest insn build/*.o

  # on other kernels, each program run a hundred times
  ebpf-bench selftest insn --kernel 5.10,6.12 --repeat 100 build/*.o`

// insnFlags are how the counting of instructions is tested.
type insnFlags struct {
	machines machineFlags
	repeat   int
	format   string
}

func newInsnCommand(t *terminal) *cobra.Command {
	var f insnFlags
	cmd := &cobra.Command{
		Use:     "insn [flags] OBJECT...",
		Short:   "Test whether instructions are counted exactly",
		Long:    "Test whether instructions are counted exactly, with every program of the objects\nthat loads: whether it also loads with counters, and where BPF_PROG_TEST_RUN can\nrun it, whether it then does the same, the same number of times in each repeat,\nby both ways to place counters, and as often as an interpreter says.",
		Example: insnExample,
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.repeat < 1:
				return usageError(cmd, fmt.Errorf("--repeat %d: it takes at least one", f.repeat))
			case f.format != "text" && f.format != "json":
				return usageError(cmd, fmt.Errorf("--format %s: it is text or json", f.format))
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.machines.register(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.repeat, "repeat", 3, "how often to run each program, on the same packets from the same start")
	flags.StringVar(&f.format, "format", "text", "what to print on stdout: text or json")
	return cmd
}

// insnObject is an object to take programs from.
type insnObject struct {
	name string
	data []byte
}

func (f *insnFlags) run(ctx context.Context, t *terminal, names []string) error {
	var objects []insnObject
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return usage(err)
		}
		objects = append(objects, insnObject{name, data})
	}
	reports, err := f.measure(ctx, t, objects)
	print := printInsn
	if f.format == "json" {
		print = encodeInsn
	}
	if len(reports) > 0 {
		err = errors.Join(print(t.stdout, reports), err)
	}
	if err != nil {
		return noMeasure(err)
	}
	for _, r := range reports {
		if n := r.Total.wrong(); n > 0 {
			err = errors.Join(err, fmt.Errorf("%s counted wrongly, or changed by being counted, on Linux %s", plural(n, "program"), r.Testbed.Kernel))
		}
	}
	if err != nil {
		return &exitError{exitRegression, err}
	}
	return nil
}

// measure tests on this host, or on the kernels that are named.
func (f *insnFlags) measure(ctx context.Context, t *terminal, objects []insnObject) ([]*insnReport, error) {
	kernels := f.machines.choose(nil)
	if len(kernels) == 0 {
		r, err := testInsn(ctx, t, objects, f.repeat)
		if err != nil {
			return nil, err
		}
		return []*insnReport{r}, nil
	}
	m, err := f.machines.open(t, kernels)
	if err != nil {
		return nil, err
	}
	return onEach(kernels, func(_ int, name string) (*insnReport, error) {
		began := time.Now()
		r, err := f.onKernel(ctx, m, name, objects)
		if err == nil {
			t.say("", "tested on Linux %s in %.1f s", r.Testbed.Kernel, time.Since(began).Seconds())
		}
		return r, err
	})
}

// onKernel has this command do the same in a virtual machine.
func (f *insnFlags) onKernel(ctx context.Context, m *machines, name string, objects []insnObject) (*insnReport, error) {
	var out bytes.Buffer
	g := guest{files: map[string][]byte{}, stdout: &out, at: func() string { return "testing" }}
	args := []string{"selftest", "insn", "--format", "json", "--repeat", strconv.Itoa(f.repeat), "--"}
	for i, o := range objects {
		// The base name is for the report; two may be the same.
		file := path.Join(guestRoot, strconv.Itoa(i), filepath.Base(o.name))
		g.files[file] = o.data
		args = append(args, file)
	}
	g.args = func(vm.Mode) []string { return args }
	info, err := m.run(ctx, name, g)
	// What it found wrong is in the report.
	var exit *vm.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Code != exitRegression) {
		return nil, err
	}
	var reports []*insnReport
	if err := json.Unmarshal(out.Bytes(), &reports); err != nil || len(reports) != 1 {
		return nil, onKernel(name, fmt.Errorf("read the guest's report: %w", errors.Join(err, fmt.Errorf("%d reports", len(reports)))))
	}
	r := reports[0]
	r.Testbed.Mode, r.Testbed.QEMU = bench.Mode(info.Mode.String()), info.QEMU
	r.rename(func(file string) string {
		n, err := strconv.Atoi(path.Base(path.Dir(file)))
		if err != nil || n < 0 || n >= len(objects) {
			return file
		}
		return objects[n].name
	})
	return r, nil
}
