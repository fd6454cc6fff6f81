package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// KernelCacheUsage is the usage of --kernel-cache.
const KernelCacheUsage = "the `folder` of kernels (default: ebpf-bench/kernels in the user's cache)"

// MachineFlags are the flags that say how virtual machines are run.
type MachineFlags struct{ fleet.Machines }

// Register adds the flags to a command.
func (f *MachineFlags) Register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var((*kernelList)(&f.Kernels), "kernel", "use this `kernel` in a virtual machine, such as 6.12; may be repeated")
	OneOf(cmd, flags, &f.Mode, "vm", "mode", []string{"exact", "kvm", "off"}, "how to run it: exact (count instructions), kvm (time), or off (this host);\nwithout a kernel, on Linux "+fleet.DefaultKernel)
	flags.StringVar(&f.Cache, "kernel-cache", "", KernelCacheUsage)
	flags.DurationVar(&f.Timeout, "vm-timeout", fleet.DefaultTimeout, "give up on a virtual machine after this time")
	flags.IntVar(&f.Memory, "vm-memory", 0, "the memory of a virtual machine in `MiB` (default 256)")
	_ = cmd.RegisterFlagCompletionFunc("kernel", f.completeKernel)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.Check(); err != nil {
			return UsageError(cmd, err)
		}
		return nil
	}
}

// kernelList is the value of --kernel.
type kernelList []string

func (k *kernelList) String() string { return strings.Join(*k, ",") }
func (k *kernelList) Type() string   { return "kernel" }

func (k *kernelList) Set(list string) error {
	names, err := fleet.ParseKernels(list)
	*k = append(*k, names...)
	return err
}

// completeKernel completes the names of kernels.
func (f *MachineFlags) completeKernel(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{"5.10", "6.1", "6.12", "7.2", "host"}
	if cache, err := kernel.OpenCache(f.Cache); err == nil {
		entries, _ := cache.List()
		for _, e := range entries {
			names = append(names, e.Release)
		}
	}
	return unit.Unique(names), cobra.ShellCompDirectiveNoFileComp
}
