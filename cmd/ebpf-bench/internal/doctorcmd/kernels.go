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

// examined is the findings for one kernel.
type examined struct {
	// name is the name that selected the kernel.
	name     string
	release  string
	mode     bench.Mode
	findings []probe.Finding
}

// compareKernels probes several kernels and prints what each supports. One that cannot be
// probed does not hide the findings for the others.
func compareKernels(ctx context.Context, t *ui.Terminal, flags *cli.MachineFlags, names []string, asJSON bool) error {
	m, err := flags.Open(cli.Watch{Terminal: t}, names)
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

// examineAll probes the kernels, as many concurrently as there are CPUs, and returns the
// findings in the kernels' order.
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
			// This is another name of a kernel in the list, or another build of it.
			k.release += " (" + k.name + ")"
		}
		kernels = append(kernels, *k)
	}
	return kernels, err
}

// examineOn probes the kernel with that name.
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

// isOfHost reports whether a probe is about running virtual machines, which does not apply
// inside one.
func isOfHost(f probe.Finding) bool { return f.Name == "kvm" || f.Name == "qemu" }
