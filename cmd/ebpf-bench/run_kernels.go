package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/vm"
)

// guestRoot is the folder of a guest that holds the suite's files.
const guestRoot = "/suite"

// onKernels measures the suite on each kernel, as many at a time as there are
// CPUs, and returns the runs in the kernels' order. A kernel on which nothing
// was measured has none; what went wrong is the error.
func (f *runFlags) onKernels(ctx context.Context, t *terminal, s *suite.Suite, kernels []string) ([]*bench.Run, error) {
	m, err := f.machines.open(t)
	if err != nil {
		return nil, err
	}
	found := make([]*bench.Run, len(kernels))
	errs := make([]error, len(kernels))
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, name := range kernels {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			began := time.Now()
			found[i], errs[i] = f.onKernel(ctx, m, s, name)
			if errs[i] == nil {
				t.say("", "measured on Linux %s in %.1f s", found[i].Testbed.Kernel, time.Since(began).Seconds())
			}
		})
	}
	wg.Wait()
	var runs []*bench.Run
	for _, run := range found {
		if run != nil {
			runs = append(runs, run)
		}
	}
	return runs, errors.Join(errs...)
}

// onKernel measures the suite on one kernel. A run that ended early comes with
// the error that ended it.
func (f *runFlags) onKernel(ctx context.Context, m *machines, s *suite.Suite, name string) (*bench.Run, error) {
	flags := guestFlags{selection: f.selection, rounds: f.rounds, budget: f.budget, seed: f.seed, loads: f.loads}
	g := guest{}
	var suiteArg []string
	if !s.Bundled {
		flags.root = guestRoot
		suiteArg = []string{"--", absolute(s.File)}
		g.files = map[string][]byte{}
		for name, data := range s.Files() {
			g.files[guestRoot+absolute(name)] = data
		}
	}
	g.args = func(mode vm.Mode) []string { return append(flags.args(mode), suiteArg...) }
	var run *bench.Run
	var broken error
	g.result = func(text json.RawMessage) {
		latest, err := bench.Decode(bytes.NewReader(text))
		if err != nil {
			broken = onKernel(name, fmt.Errorf("read the guest's results: %w", err))
			return
		}
		run = latest
	}
	info, err := m.run(ctx, name, g)
	err = errors.Join(err, broken)
	if run == nil && err == nil {
		err = onKernel(name, errors.New("the guest reported no results"))
	}
	if run != nil {
		run.Testbed.QEMU = info.QEMU
		run.Partial = run.Partial || err != nil
	}
	return run, err
}

func absolute(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	return filepath.ToSlash(abs)
}

func itoa[T int | uint64](n T) string { return strconv.FormatUint(uint64(n), 10) }
