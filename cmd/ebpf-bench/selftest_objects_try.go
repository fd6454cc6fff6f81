package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/runner"
)

// tryObjects loads every program of the objects on the running kernel: as it
// is, and as a benchmark would.
func tryObjects(ctx context.Context, objects []objectFile, bpftool string) (*objectsReport, error) {
	r := &objectsReport{Version: 1, Tool: version(), Testbed: probe.Testbed(), Programs: []objectsProgram{}, Unread: map[string]string{}}
	r.Testbed.Mode = bench.ModeHost
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, bench.WithHint(fmt.Errorf("remove the limit of locked memory: %w", err), "run as root, such as with sudo, or in a virtual machine by --kernel")
	}
	for _, o := range objects {
		if ctx.Err() != nil {
			return nil, fleet.Interrupted(ctx, ctx.Err())
		}
		byLibbpf := false
		if bpftool != "" {
			var err error
			if byLibbpf, err = loadsByLibbpf(ctx, bpftool, o.data); err != nil {
				return nil, err
			}
		}
		asIs := loadsAsIs(o.data)
		read, err := object.Parse(o.data)
		if err != nil {
			r.Unread[o.name] = err.Error()
			if !errors.Is(err, object.ErrNoProgram) && (byLibbpf || len(asIs) > 0) {
				// Not one of its programs loads here.
				r.Programs = append(r.Programs, objectsProgram{Object: o.name, Program: "(all)", Cilium: len(asIs) > 0, Libbpf: byLibbpf, Class: classUnreadable, Why: err.Error()})
			}
			continue
		}
		for _, name := range read.Programs() {
			p := objectsProgram{Object: o.name, Program: name, Type: object.TypeName(read.Entry(name).Type), Cilium: asIs[name], Libbpf: byLibbpf}
			if p.Changes, err = runner.TryLoad(read, name); err != nil {
				p.Class, p.Why, p.Hint = runner.LoadClass(err), err.Error(), bench.Hint(err)
			}
			p.Loads = err == nil
			settle()
			r.Programs = append(r.Programs, p)
		}
	}
	r.sum()
	if len(r.Programs) == 0 {
		return nil, errors.New("the objects hold no program")
	}
	return r, nil
}

// loadsAsIs are the programs of an object that the kernel takes from cilium/ebpf
// without a change: with all that the object has, or else each with all maps.
func loadsAsIs(data []byte) (taken map[string]bool) {
	taken = map[string]bool{}
	// The library may not survive what this tool has to.
	defer func() { _ = recover() }()
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(data))
	if err != nil {
		return taken
	}
	loads := func(spec *ebpf.CollectionSpec) bool {
		coll, err := ebpf.NewCollection(spec)
		if err == nil {
			coll.Close()
		}
		settle()
		return err == nil
	}
	all := loads(spec.Copy())
	for name := range spec.Programs {
		one := spec.Copy()
		one.Programs = map[string]*ebpf.ProgramSpec{name: one.Programs[name]}
		if all || loads(one) {
			taken[name] = true
		}
	}
	return taken
}

// settle lets the kernel free what was closed; see unload.
func settle() {
	const membarrierGlobal = 1
	_, _, _ = unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0)
	time.Sleep(time.Millisecond)
}

// loadsByLibbpf tells whether bpftool, which is made of libbpf, loads an object,
// which it does as a whole. What it pins, of its own accord or because the
// object says so, it pins in a file system that ends with the thread that sees it.
func loadsByLibbpf(ctx context.Context, bpftool string, data []byte) (bool, error) {
	dir, err := os.MkdirTemp("", "ebpf-bench-objects-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "object.o")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	type answer struct {
		loads bool
		err   error
	}
	answered := make(chan answer)
	go func() {
		// The thread ends with the goroutine, which does not unlock it.
		runtime.LockOSThread()
		if err := privateBPFFS(); err != nil {
			answered <- answer{false, err}
			return
		}
		out, err := exec.CommandContext(ctx, bpftool, "-m", "prog", "loadall", file, pins+"/ebpf_bench").CombinedOutput()
		if err != nil && len(out) == 0 && !strings.Contains(err.Error(), "exit status") {
			answered <- answer{false, fmt.Errorf("run bpftool: %w", err)}
			return
		}
		answered <- answer{err == nil, nil}
	}()
	a := <-answered
	settle()
	return a.loads, a.err
}

// pins is where libbpf pins maps that the object has pinned by name.
const pins = "/sys/fs/bpf"

// privateBPFFS mounts a file system for pins that only this thread sees, and
// what it starts.
func privateBPFFS() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make its mounts private: %w", err)
	}
	if err := unix.Mount("bpf", pins, "bpf", 0, ""); err != nil {
		return fmt.Errorf("mount a BPF file system: %w", err)
	}
	return nil
}
