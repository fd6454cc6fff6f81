package main

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
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// guestModules are the kernel modules that measuring may take. One that a
// kernel lacks is built in, or missed by just the benchmarks that need it.
var guestModules = []string{"veth", "sch_ingress", "cls_bpf"}

// machines runs this tool on other kernels, each in a virtual machine.
type machines struct {
	t       *ui.Terminal
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
	// at tells a person what the tool is at there: it is asked once the machine
	// has booted, and after each result.
	at func() string
}

// run runs a guest on the kernel of that name.
func (m *machines) run(ctx context.Context, name string, g guest) (vm.Info, error) {
	stage := newStage(m.t, name)
	defer stage.end()
	k, err := m.cache.Resolve(ctx, name)
	if err != nil {
		return vm.Info{}, misnamed(onKernel(name, interrupted(ctx, err)))
	}
	info, err := m.boot(ctx, k, g, stage)
	if errors.Is(err, vm.ErrKVM) {
		m.withoutKVM(err)
		info, err = m.boot(ctx, k, g, stage)
	}
	m.sayWarnings(name, info)
	return info, onKernel(name, err)
}

// sayWarnings says what a machine lacks: benchmarks may fail for it, or measure
// something else than on another kernel.
func (m *machines) sayWarnings(name string, info vm.Info) {
	for _, w := range info.Warnings {
		m.t.Warn("kernel %s: %s", name, w)
	}
}

// interruptedError is how something ended that a person has ended.
type interruptedError struct{ error }

func (interruptedError) Error() string   { return "interrupted" }
func (e interruptedError) Unwrap() error { return e.error }

// interrupted says of an error, if there is one, that it is for the signal.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return interruptedError{err}
	}
	return err
}

// onEach calls fn for each kernel, for as many at a time as there are CPUs, and
// returns in the kernels' order what it found. A kernel may have found nothing.
func onEach[T any](kernels []string, fn func(i int, name string) (*T, error)) ([]*T, error) {
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

// withoutKVM makes exact mode do what KVM does not, and says so once.
func (m *machines) withoutKVM(reason error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode == vm.KVM {
		m.mode = vm.Exact
		m.t.Warn("%s; counting instructions in exact mode instead", reason)
	}
}

func (m *machines) boot(ctx context.Context, k *kernel.Kernel, g guest, stage *stage) (vm.Info, error) {
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
		Args: g.args(mode), Files: withConfig(g.files, k),
		Stdout: g.stdout, Stderr: &said,
		OnBoot: func() { stage.at(g) },
		OnResult: func(text json.RawMessage) {
			if g.result != nil {
				g.result(text)
			}
			stage.at(g)
		},
	}
	for _, mod := range modules {
		cmd.Modules = append(cmd.Modules, vm.Module{Name: mod.Name, Data: mod.Data})
	}
	stage.set("booting" + map[bool]string{true: " under KVM"}[mode == vm.KVM])
	err = interrupted(ctx, cmd.Run(ctx))
	return cmd.Info, explainGuest(err, said.String(), cmd.Info.Boot > 0)
}

// withConfig adds the kernel's settings to files, where programs that ask for them
// (__kconfig) get them answered from.
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
		return bench.WithHint(bench.WithDetails(err, fault.Trace), hint)
	case errors.As(err, &exit):
		err = fmt.Errorf("ebpf-bench in the guest: %w", exit)
		if said = strings.TrimSpace(said); said != "" {
			err = bench.WithDetails(err, strings.Split(said, "\n"))
		}
		if exit.Signal != "" {
			err = bench.WithHint(err, "Where the benchmark kills no processes, the virtual machine has too little memory: give it more by --vm-memory.")
		}
		return err
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
