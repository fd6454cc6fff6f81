package doctorcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// examined is what one kernel answers.
type examined struct {
	// name is the kernel's as it was asked for.
	name     string
	release  string
	mode     bench.Mode
	findings []probe.Finding
}

// compareKernels asks several kernels and prints what each can. One that
// cannot be asked does not hide the answers of the others.
func compareKernels(ctx context.Context, t *ui.Terminal, flags *cli.MachineFlags, names []string, asJSON bool) error {
	m, err := flags.Open(t, names)
	if err != nil {
		return err
	}
	kernels, err := examineAll(ctx, t, m, names)
	switch {
	case len(kernels) == 0:
		return err
	case asJSON:
		byRelease := map[string][]answer{}
		for _, k := range kernels {
			byRelease[k.release] = k.answers()
		}
		return errors.Join(json.NewEncoder(t.Stdout).Encode(byRelease), err)
	}
	return errors.Join(printMatrix(t, kernels), err)
}

// examineAll asks each kernel, as many at a time as there are CPUs, and
// returns the answers in the kernels' order.
func examineAll(ctx context.Context, t *ui.Terminal, m *fleet.Fleet, names []string) ([]examined, error) {
	found, err := fleet.Each(names, func(_ int, name string) (*examined, error) {
		began := time.Now()
		k, err := examineOn(ctx, m, name)
		if err == nil {
			t.Say("asked Linux %s in %.1f s", k.release, time.Since(began).Seconds())
		}
		return k, err
	})
	var kernels []examined
	for _, k := range found {
		if slices.ContainsFunc(kernels, func(o examined) bool { return o.release == k.release }) {
			// Another name of one that is there, or another build of it.
			k.release += " (" + k.name + ")"
		}
		kernels = append(kernels, *k)
	}
	return kernels, err
}

// examineOn asks the kernel of that name.
func examineOn(ctx context.Context, m *fleet.Fleet, name string) (*examined, error) {
	var out bytes.Buffer
	ask := fleet.Guest{Args: func(vm.Mode) []string { return []string{"doctor", "--json"} }, Stdout: &out, At: func() string { return "asking" }}
	info, err := m.Run(ctx, name, ask)
	if err != nil {
		return nil, err
	}
	k := &examined{name: name, release: info.Release, mode: bench.Mode(info.Mode.String())}
	if err := json.Unmarshal(out.Bytes(), &k.findings); err != nil {
		return nil, fleet.OnKernel(name, fmt.Errorf("read the guest's answers: %w", err))
	}
	k.findings = slices.DeleteFunc(k.findings, isOfHost)
	for i := range k.findings {
		if f := &k.findings[i]; f.Name == "perf_event cycles" && f.Fix != "" {
			f.Fix = "measure on a host that has a PMU, without --kernel"
		}
	}
	return k, nil
}

// isOfHost tells the probes that say whether this machine can run others: in a
// virtual one that is no question.
func isOfHost(f probe.Finding) bool { return f.Name == "kvm" || f.Name == "qemu" }
