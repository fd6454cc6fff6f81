package runner

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
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/load"
)

// Every program that the kernel accepts unchanged from cilium/ebpf, or from
// libbpf by bpftool, loads. Any other may load with changes, or must get a
// reason why not.
func TestCorpusLoads(t *testing.T) {
	testenv.Tools(t, "bpftool")
	var programs, byCilium, byLibbpf, takenAll, takenLoaded, named, loaded, changed int
	refused := tally{}
	for _, o := range corpus(t, false) {
		libbpf, err := loadsByLibbpf(t.Context(), o.data)
		if err != nil {
			t.Fatal(err)
		}
		asIs := loadsAsIs(o.data)
		read, err := object.Parse(o.data)
		switch {
		case err != nil && !errors.Is(err, object.ErrNoProgram) && (libbpf || len(asIs) > 0):
			t.Errorf("%s: the kernel takes it, and it is not read: %v", o.name, err)
			continue
		case err != nil:
			t.Logf("%s: not read: %v", o.name, err)
			continue
		}
		for _, name := range read.Programs() {
			changes, err := tryLoad(read, name)
			awaitFree()
			isTaken := libbpf || asIs[name]
			for n, yes := range map[*int]bool{
				&programs: true, &byCilium: asIs[name], &byLibbpf: libbpf,
				&takenAll: isTaken, &takenLoaded: isTaken && err == nil,
				&loaded: err == nil, &changed: err == nil && len(changes) > 0,
			} {
				if yes {
					*n++
				}
			}
			switch {
			case err == nil:
			case isTaken && load.Class(err) == load.ClassOther:
				t.Errorf("%s %s: the kernel takes it as it is, and it does not load here: %v", o.name, name, err)
			case isTaken:
				named++
				t.Logf("%s %s: the kernel takes it as it is: %v", o.name, name, err)
			default:
				refused[load.Class(err)]++
			}
		}
	}
	refused.log(t, "the kernel takes it in no way")
	t.Logf("Linux %s: %d programs, %d taken from cilium/ebpf, %d from libbpf, %d from either: %d (%.2f%%) of them load here, %d have a reason; all that load: %d, %d of them with changes, %d nowhere else",
		probe.Testbed().Kernel, programs, byCilium, byLibbpf, takenAll, takenLoaded, percentage(takenLoaded, takenAll), named, loaded, changed, loaded-takenLoaded)
	if takenAll == 0 {
		t.Error("the kernel takes no program")
	}
}

// tryLoad loads a program of an object as a benchmark would, and unloads it. It
// returns what was changed for that, or why the program does not load.
func tryLoad(o *object.Object, program string) (changes []string, err error) {
	spec, changes := o.Program(program)
	coll, warning, err := load.Collection(spec.Copy())
	if err != nil {
		return changes, load.Explain(spec, program, err)
	}
	load.Close(coll)
	if warning != "" {
		changes = append(changes, warning)
	}
	return changes, nil
}

// loadsAsIs returns the programs of an object that the kernel accepts unchanged
// from cilium/ebpf: with the whole object, or else each with all maps.
func loadsAsIs(data []byte) (taken map[string]bool) {
	taken = map[string]bool{}
	// The library may panic on input that this tool must survive.
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
		awaitFree()
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

// loadsByLibbpf reports whether bpftool, which is built on libbpf, loads an
// object as a whole. It pins things, by itself or because the object says so,
// in a file system that ends with the only thread that sees it.
func loadsByLibbpf(ctx context.Context, data []byte) (bool, error) {
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
		out, err := exec.CommandContext(ctx, "bpftool", "-m", "prog", "loadall", file, pins+"/ebpf_bench").CombinedOutput()
		if err != nil && len(out) == 0 && !strings.Contains(err.Error(), "exit status") {
			answered <- answer{false, fmt.Errorf("run bpftool: %w", err)}
			return
		}
		answered <- answer{err == nil, nil}
	}()
	a := <-answered
	awaitFree()
	return a.loads, a.err
}

// pins is where libbpf pins maps for which the object asks for pinning by name.
const pins = "/sys/fs/bpf"

// privateBPFFS mounts a file system for pins that only this thread and its
// children see.
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
