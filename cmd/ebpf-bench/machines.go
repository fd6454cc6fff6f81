package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// guestModules are the kernel modules that measuring may take. One that a
// kernel lacks is built in, or missed by just the benchmarks that need it.
var guestModules = []string{"veth", "sch_ingress", "cls_bpf"}

// machineFlags are how virtual machines are run.
type machineFlags struct {
	kernels []string
	mode    vmMode
	cache   string
	timeout time.Duration
	memory  int
}

func (f *machineFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.kernels, "kernel", nil, "use this `kernel` in a virtual machine, such as 6.12; may be repeated")
	flags.Var(&f.mode, "vm", "how to run it: exact (count instructions), kvm (time), or off (this host);\nwithout a kernel, what this machine runs")
	flags.StringVar(&f.cache, "kernel-cache", "", "the `folder` of kernels (default: ebpf-bench/kernels in the user's cache)")
	flags.DurationVar(&f.timeout, "vm-timeout", 5*time.Minute, "give up on a virtual machine after this time")
	flags.IntVar(&f.memory, "vm-memory", 0, "the memory of a virtual machine in `MiB` (default 256)")
	_ = cmd.RegisterFlagCompletionFunc("kernel", kernelNames)
	_ = cmd.RegisterFlagCompletionFunc("vm", cobra.FixedCompletions([]string{"exact", "kvm", "off"}, cobra.ShellCompDirectiveNoFileComp))
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
func (f *machineFlags) open(t *terminal, kernels []string) (*machines, error) {
	cache, err := openKernels(t, f.cache)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range kernels {
		if err := cache.Check(name); errors.Is(err, kernel.ErrUnknown) {
			errs = append(errs, usage(onKernel(name, err)))
		}
	}
	if f.timeout < 0 {
		errs = append(errs, usage(errors.New("--vm-timeout must not be negative; 0 is no limit")))
	}
	if f.memory < 0 {
		errs = append(errs, usage(errors.New("--vm-memory must be a number of MiB from 1 on")))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := &machines{t: t, cache: cache, timeout: f.timeout, memory: f.memory}
	if f.mode == "kvm" {
		m.mode = vm.KVM
	}
	return m, nil
}

// machines runs this tool on other kernels, each in a virtual machine.
type machines struct {
	t       *terminal
	cache   *kernel.Cache
	timeout time.Duration
	memory  int

	mu   sync.Mutex
	mode vm.Mode // changed by the first that finds KVM broken
}

// guest is what a virtual machine runs: this tool with arguments, which depend
// on the mode that the machine runs in.
type guest struct {
	args  func(mode vm.Mode) []string
	files map[string][]byte
	// stdout gets what the tool prints there, result what it reports. Either
	// may be nil.
	stdout io.Writer
	result func(json.RawMessage)
}

// run runs a guest on the kernel of that name.
func (m *machines) run(ctx context.Context, name string, g guest) (vm.Info, error) {
	k, err := m.cache.Resolve(ctx, name)
	if err != nil {
		return vm.Info{}, misnamed(onKernel(name, err))
	}
	info, err := m.boot(ctx, k, g)
	if errors.Is(err, vm.ErrKVM) {
		m.withoutKVM(err)
		info, err = m.boot(ctx, k, g)
	}
	return info, onKernel(name, err)
}

// onEach calls fn for each kernel, for as many at a time as there are CPUs, and
// returns in the kernels' order what it found. A kernel may have found nothing.
func onEach[T any](kernels []string, fn func(name string) (*T, error)) ([]*T, error) {
	found := make([]*T, len(kernels))
	errs := make([]error, len(kernels))
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, name := range kernels {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i], errs[i] = fn(name)
		})
	}
	wg.Wait()
	return slices.DeleteFunc(found, func(v *T) bool { return v == nil }), errors.Join(errs...)
}

// withoutKVM makes exact mode do what KVM does not, and says so once.
func (m *machines) withoutKVM(reason error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode == vm.KVM {
		m.mode = vm.Exact
		m.t.say("warning: ", "%s; counting instructions in exact mode instead", reason)
	}
}

func (m *machines) boot(ctx context.Context, k *kernel.Kernel, g guest) (vm.Info, error) {
	image, err := k.BootFile("")
	if err != nil {
		return vm.Info{}, err
	}
	modules, _, err := k.Modules(guestModules...)
	if err != nil {
		return vm.Info{}, err
	}
	m.mu.Lock()
	mode := m.mode
	m.mu.Unlock()

	var said bytes.Buffer
	cmd := &vm.Cmd{
		Image: image, Mode: mode, Memory: m.memory, Timeout: m.timeout,
		Args: g.args(mode), Files: g.files,
		Stdout: g.stdout, Stderr: &said, OnResult: g.result,
	}
	for _, mod := range modules {
		cmd.Modules = append(cmd.Modules, vm.Module{Name: mod.Name, Data: mod.Data})
	}
	err = cmd.Run(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", err)
	}
	return cmd.Info, explainGuest(err, said.String(), cmd.Info.Boot > 0)
}

// guestHints are hints that name this tool's flags.
var guestHints = map[error]string{
	vm.ErrMemory:  "Give it more memory by --vm-memory: 256 MiB are enough for most suites.",
	vm.ErrTimeout: "Give it more time by --vm-timeout, or the benchmark fewer runs (repeat, count).",
	vm.ErrHung:    "A program that runs for so long keeps the kernel from everything else: give it less to do.",
}

// explainGuest adds to a failure of the machine what its console says about
// it, and to one of the tool in it what the tool said. Hints about benchmarks
// are for a machine that has booted.
func explainGuest(err error, said string, booted bool) error {
	var fault *vm.Fault
	var exit *vm.ExitError
	switch {
	case errors.As(err, &fault):
		hint := bench.Hint(err)
		if flag := guestHints[fault.Kind]; flag != "" && (booted || errors.Is(err, vm.ErrMemory)) {
			hint = flag
		}
		if len(fault.Trace) > 0 {
			err = &detailed{err, fault.Trace}
		}
		return bench.WithHint(err, hint)
	case errors.As(err, &exit):
		return &detailed{fmt.Errorf("ebpf-bench in the guest: %w", exit), logLines(said, true)}
	}
	return err
}

// onKernel says which kernel an error is about.
func onKernel(name string, err error) error {
	if err == nil {
		return nil
	}
	return bench.WithHint(fmt.Errorf("kernel %s: %w", name, err), bench.Hint(err))
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
