package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/vm"
)

const kernelCacheUsage = "the `folder` of kernels (default: ebpf-bench/kernels in the user's cache)"

// machineFlags are how virtual machines are run.
type machineFlags struct {
	kernels kernelList
	mode    vmMode
	cache   string
	timeout time.Duration
	memory  int
}

func (f *machineFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&f.kernels, "kernel", "use this `kernel` in a virtual machine, such as 6.12; may be repeated")
	flags.Var(&f.mode, "vm", "how to run it: exact (count instructions), kvm (time), or off (this host);\nwithout a kernel, what this machine runs")
	flags.StringVar(&f.cache, "kernel-cache", "", kernelCacheUsage)
	flags.DurationVar(&f.timeout, "vm-timeout", 5*time.Minute, "give up on a virtual machine after this time")
	flags.IntVar(&f.memory, "vm-memory", 0, "the memory of a virtual machine in `MiB` (default 256)")
	_ = cmd.RegisterFlagCompletionFunc("kernel", f.completeKernel)
	_ = cmd.RegisterFlagCompletionFunc("vm", cobra.FixedCompletions([]string{"exact", "kvm", "off"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.check(); err != nil {
			return usageError(cmd, err)
		}
		return nil
	}
}

// check refuses flags that contradict each other.
func (f *machineFlags) check() error {
	if f.mode == "off" && len(f.kernels) > 0 {
		return fmt.Errorf("--vm off measures on this host, and --kernel %s in a virtual machine: take one of them away", strings.Join(f.kernels, ","))
	}
	return nil
}

// choose is the kernels to run in virtual machines, none for this host: those
// that are named here, or else in the suite. To ask just for a mode is to ask
// for what this machine runs, in that mode.
func (f *machineFlags) choose(inSuite []string) []string {
	switch {
	case f.mode == "off":
		return nil
	case len(f.kernels) > 0:
		return unique(f.kernels)
	case len(inSuite) == 0 && f.mode != "":
		return []string{"host"}
	}
	return inSuite
}

// open makes the machines that the flags ask for, to run these kernels. What
// can be known to be wrong is found before the first one boots.
func (f *machineFlags) open(t *ui.Terminal, kernels []string) (*machines, error) {
	cache, err := openKernels(t, f.cache)
	if err != nil {
		return nil, err
	}
	if err := canEmulate(runtime.GOARCH); err != nil {
		return nil, exit.Usage(err)
	}
	var errs []error
	for _, name := range kernels {
		if err := cache.Check(name); errors.Is(err, kernel.ErrUnknown) {
			errs = append(errs, exit.Usage(onKernel(name, err)))
		}
	}
	if f.timeout < 0 {
		errs = append(errs, exit.Usage(errors.New("--vm-timeout must not be negative; 0 is no limit")))
	}
	if f.memory < 0 {
		errs = append(errs, exit.Usage(errors.New("--vm-memory must be a number of MiB from 1 on")))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := &machines{t: t, cache: cache, timeout: f.timeout, memory: f.memory}
	if f.mode == "kvm" {
		m.mode = vm.KVM
		// A machine that never boots would be waited for.
		if err := probe.NoKVM(); err != nil {
			m.withoutKVM(fmt.Errorf("%w: %w", vm.ErrKVM, err))
		}
	}
	return m, nil
}

// canEmulate refuses virtual machines on another architecture than theirs: they
// run this very program.
func canEmulate(arch string) error {
	if arch == "amd64" {
		return nil
	}
	return bench.WithHint(fmt.Errorf("virtual machines are x86-64, and this is %s", arch),
		"Measure on this host (--vm off, the action's mode: host), or count instructions on an x86-64 machine, such as the runner ubuntu-24.04.")
}

// vmMode is the value of --vm. The empty one is exact where a kernel is named.
type vmMode string

func (m *vmMode) String() string { return string(*m) }
func (m *vmMode) Type() string   { return "mode" }

func (m *vmMode) Set(s string) error {
	switch s {
	case "exact", "kvm", "off":
		*m = vmMode(s)
		return nil
	}
	return errors.New("it is exact, kvm or off")
}

// kernelList is the value of --kernel.
type kernelList []string

func (k *kernelList) String() string { return strings.Join(*k, ",") }
func (k *kernelList) Type() string   { return "kernel" }

// Set takes names that are separated by commas. An empty one is what a variable
// leaves that nobody has set, and hardly means this host.
func (k *kernelList) Set(s string) error {
	for name := range strings.SplitSeq(s, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return errors.New("a kernel has no name")
		}
		*k = append(*k, name)
	}
	return nil
}
