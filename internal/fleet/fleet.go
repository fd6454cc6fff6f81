// Package fleet runs this tool on other kernels, each in a virtual machine, as many
// concurrently as there are CPUs.
package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// Host is the name of this machine's running kernel.
const Host = "host"

// Modules are the kernel modules that measuring may need. One that a kernel lacks is built
// in, or only the benchmarks that need it fail.
var Modules = []string{"veth", "sch_ingress", "cls_bpf"}

// Watch receives the progress of the machines.
type Watch interface {
	// Tell receives problems that do not stop a machine.
	Tell(notes ...bench.Note)
	// Stage is called when a machine with the named kernel starts.
	Stage(kernel string) Stage
	// Downloads receives the progress of downloads of kernels.
	Downloads() fetch.Progress
}

// Stage receives the progress of one machine.
type Stage interface {
	Set(what string)
	End()
}

// Fleet runs this tool on other kernels.
type Fleet struct {
	machines Machines
	cache    *kernel.Cache
	watch    Watch

	mu   sync.Mutex
	mode vm.Mode // changed by the first that finds KVM broken
}

// CanEmulate refuses virtual machines on other architectures than theirs, because they run
// this very program.
func CanEmulate(arch string) error {
	if arch == "amd64" {
		return nil
	}
	return bench.WithHint(fmt.Errorf("virtual machines are x86-64, and this is %s", arch),
		"measure on this host (--vm off, the action's mode: host), or count instructions on an x86-64 machine, such as the runner ubuntu-24.04")
}

// Guest is what a virtual machine runs: this tool with arguments, which depend on the mode
// of the machine.
type Guest struct {
	Args  func(mode vm.Mode) []string
	Files map[string][]byte
	// Stdout gets the tool's output there, Result its results. Either may be nil.
	Stdout io.Writer
	Result func(json.RawMessage)
	// At returns what the tool is doing there, for people. It is called once the machine
	// has booted, and after each result. It may be nil.
	At func() string
}

func (g *Guest) at() string {
	if g.At == nil {
		return "measuring"
	}
	return g.At()
}

// Run runs a guest on the kernel with that name.
func (f *Fleet) Run(ctx context.Context, name string, g Guest) (vm.Info, error) {
	stage := f.watch.Stage(name)
	defer stage.End()
	stage.Set("reading the kernel")
	k, err := f.cache.Resolve(ctx, name)
	if err != nil {
		return vm.Info{}, Misnamed(OnKernel(name, Interrupted(ctx, err)))
	}
	info, err := f.boot(ctx, k, g, stage)
	if errors.Is(err, vm.ErrKVM) {
		f.withoutKVM(err)
		info, err = f.boot(ctx, k, g, stage)
	}
	f.warn(name, info)
	return info, OnKernel(name, err)
}

// warn warns about what a machine lacks: benchmarks may fail because of it, or measure
// something else than on another kernel.
func (f *Fleet) warn(name string, info vm.Info) {
	for _, w := range info.Warnings {
		f.watch.Tell(bench.Warn("kernel %s: %s", name, w))
	}
}

// interruptedError is an error that a person caused by an interrupt.
type interruptedError struct{ error }

func (interruptedError) Error() string   { return "interrupted" }
func (e interruptedError) Unwrap() error { return e.error }

// Interrupted marks an error, if any, as caused by the signal if there was one.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return interruptedError{err}
	}
	return err
}

// Each calls fn for the kernels, as many concurrently as there are CPUs, and returns the
// results in the kernels' order, without nil ones.
func Each[T any](kernels []string, fn func(i int, name string) (*T, error)) ([]*T, error) {
	found := make([]*T, len(kernels))
	errs := make([]error, len(kernels))
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, name := range kernels {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i], errs[i] = fn(i, name)
		})
	}
	wg.Wait()
	return slices.DeleteFunc(found, func(v *T) bool { return v == nil }), errors.Join(errs...)
}

// withoutKVM switches from KVM to exact mode, and warns once.
func (f *Fleet) withoutKVM(reason error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mode == vm.KVM {
		f.mode = vm.Exact
		f.watch.Tell(bench.Warn("%s; counting instructions in exact mode instead", reason))
	}
}

func (f *Fleet) boot(ctx context.Context, k *kernel.Kernel, g Guest, stage Stage) (vm.Info, error) {
	image, err := k.BootFile("")
	if err != nil {
		return vm.Info{}, err
	}
	modules, _, err := k.Modules(Modules...)
	if err != nil {
		return vm.Info{}, err
	}
	f.mu.Lock()
	mode := f.mode
	f.mu.Unlock()

	var output bytes.Buffer
	cmd := &vm.Cmd{
		Image: image, Mode: mode, Memory: f.machines.Memory, Timeout: f.machines.Timeout,
		Args: g.Args(mode), Files: withConfig(g.Files, k),
		Stdout: g.Stdout, Stderr: &output,
		OnBoot: func() { stage.Set(g.at()) },
		OnResult: func(text json.RawMessage) {
			if g.Result != nil {
				g.Result(text)
			}
			stage.Set(g.at())
		},
	}
	for _, mod := range modules {
		cmd.Modules = append(cmd.Modules, vm.Module{Name: mod.Name, Data: mod.Data})
	}
	stage.Set("booting" + map[bool]string{true: " under KVM"}[mode == vm.KVM])
	err = Interrupted(ctx, cmd.Run(ctx))
	return cmd.Info, explainGuest(err, output.String(), cmd.Info.Boot > 0)
}

// withConfig adds the kernel's configuration to files, where the values of a program's
// __kconfig variables are read.
func withConfig(files map[string][]byte, k *kernel.Kernel) map[string][]byte {
	if k.Config == nil {
		return files
	}
	all := map[string][]byte{"/boot/config-" + k.Release: k.Config}
	maps.Copy(all, files)
	return all
}

// guestHints are hints that name this tool's flags.
var guestHints = map[error]string{
	vm.ErrMemory:  "give it more memory by --vm-memory: 256 MiB are enough for most suites",
	vm.ErrTimeout: "give it more time by --vm-timeout, or the benchmark fewer runs (repeat, count)",
	vm.ErrHung:    "a program that runs for so long keeps the kernel from everything else: give it less to do",
}

// explainGuest adds the console's output to a failure of the machine, and the tool's
// output to a failure of the tool in it. Hints about benchmarks are for a machine that has
// booted.
func explainGuest(err error, output string, booted bool) error {
	var fault *vm.Fault
	var exit *vm.ExitError
	switch {
	case errors.As(err, &fault):
		hint := bench.Hint(err)
		if flag := guestHints[fault.Kind]; flag != "" && (booted || errors.Is(err, vm.ErrMemory)) {
			hint = flag
		}
		return bench.WithHint(bench.WithDetails(err, fault.Trace), hint)
	case errors.As(err, &exit):
		err = fmt.Errorf("ebpf-bench in the guest: %w", exit)
		if output = strings.TrimSpace(output); output != "" {
			err = bench.WithDetails(err, strings.Split(output, "\n"))
		}
		if exit.Signal != "" {
			err = bench.WithHint(err, "where the benchmark kills no processes, the virtual machine has too little memory: give it more by --vm-memory")
		}
		return err
	}
	return err
}

// OnKernel adds to an error which kernel it is about.
func OnKernel(name string, err error) error {
	if err == nil {
		return nil
	}
	return bench.WithHint(fmt.Errorf("kernel %s: %w", name, err), bench.Hint(err))
}

// Misnamed returns a usage error if the name is not a kernel's. A failing network is not a
// usage error.
func Misnamed(err error) error {
	if errors.Is(err, kernel.ErrUnknown) || errors.Is(err, kernel.ErrNotCached) {
		return exit.Usage(err)
	}
	return err
}
