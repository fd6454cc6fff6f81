package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// KernelCacheUsage is the usage of --kernel-cache.
const KernelCacheUsage = "the `folder` of kernels (default: ebpf-bench/kernels in the user's cache)"

// MachineFlags say how virtual machines are run.
type MachineFlags struct {
	Kernels KernelList
	// Mode is exact, kvm or off. Empty means exact if a kernel is named.
	Mode    string
	Cache   string
	timeout time.Duration
	memory  int
}

// DefaultMachines returns the flags of a command line without any.
func DefaultMachines() MachineFlags { return MachineFlags{timeout: defaultTimeout} }

// defaultTimeout is how long a virtual machine may run.
const defaultTimeout = 5 * time.Minute

// Register adds the flags to a command.
func (f *MachineFlags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&f.Kernels, "kernel", "use this `kernel` in a virtual machine, such as 6.12; may be repeated")
	OneOf(cmd, flags, &f.Mode, "vm", "mode", []string{"exact", "kvm", "off"}, "how to run it: exact (count instructions), kvm (time), or off (this host);\nwithout a kernel, what this machine runs")
	flags.StringVar(&f.Cache, "kernel-cache", "", KernelCacheUsage)
	flags.DurationVar(&f.timeout, "vm-timeout", defaultTimeout, "give up on a virtual machine after this time")
	flags.IntVar(&f.memory, "vm-memory", 0, "the memory of a virtual machine in `MiB` (default 256)")
	_ = cmd.RegisterFlagCompletionFunc("kernel", f.completeKernel)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.Check(); err != nil {
			return UsageError(cmd, err)
		}
		return nil
	}
}

// Check refuses flags that contradict each other.
func (f *MachineFlags) Check() error {
	if f.Mode == "off" && len(f.Kernels) > 0 {
		return fmt.Errorf("--vm off and --kernel %s cannot be combined", strings.Join(f.Kernels, ","))
	}
	return nil
}

// Choose returns the kernels to run in virtual machines, none for this host: those that
// are named here, or else in the suite. A mode alone selects this machine's kernel, in
// that mode.
func (f *MachineFlags) Choose(inSuite []string) []string {
	switch {
	case f.Mode == "off":
		return nil
	case len(f.Kernels) > 0:
		return unit.Unique(f.Kernels)
	case len(inSuite) == 0 && f.Mode != "":
		return []string{"host"}
	}
	return inSuite
}

// Open opens a fleet of machines as the flags say, for these kernels.
func (f *MachineFlags) Open(t *ui.Terminal, kernels []string) (*fleet.Fleet, error) {
	cache, err := OpenKernels(t, f.Cache)
	if err != nil {
		return nil, err
	}
	opened, err := fleet.Open(fleet.Options{Cache: cache, KVM: f.Mode == "kvm", Timeout: f.timeout, Memory: f.memory, Watch: watch{t}}, kernels)
	errs := []error{err}
	if f.timeout < 0 {
		errs = append(errs, exit.Usage(errors.New("--vm-timeout must not be negative; 0 is no limit")))
	}
	if f.memory < 0 {
		errs = append(errs, exit.Usage(errors.New("--vm-memory must be a number of MiB from 1 on")))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return opened, nil
}

// watch shows the progress of machines on a terminal.
type watch struct{ *ui.Terminal }

func (w watch) Stage(kernel string) fleet.Stage { return w.Terminal.Stage("kernel " + kernel) }

// KernelList is the value of --kernel.
type KernelList []string

// String implements pflag.Value.
func (k *KernelList) String() string { return strings.Join(*k, ",") }

// Type implements pflag.Value.
func (k *KernelList) Type() string { return "kernel" }

// Set adds names that are separated by commas. It refuses an empty name, which comes from
// an unset variable and hardly means this host.
func (k *KernelList) Set(s string) error {
	for name := range strings.SplitSeq(s, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return errors.New("a kernel has no name")
		}
		*k = append(*k, name)
	}
	return nil
}

// completeKernel completes the names of kernels.
func (f *MachineFlags) completeKernel(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{"5.10", "6.1", "6.12", "7.2", "host"}
	if cache, err := OpenKernels(ui.New(io.Discard, io.Discard), f.Cache); err == nil {
		entries, _ := cache.List()
		for _, e := range entries {
			names = append(names, e.Release)
		}
	}
	return unit.Unique(names), cobra.ShellCompDirectiveNoFileComp
}
