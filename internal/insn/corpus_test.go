package insn

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// corpus finds objects of others: those that cilium/ebpf is tested with, those
// that Debian installs (xdp-tools), those in folders that EBPF_BENCH_CORPUS
// lists, and our own.
func corpus(t testing.TB) []string {
	others := filepath.SplitList(os.Getenv("EBPF_BENCH_CORPUS"))
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cilium/ebpf").Output()
	if err != nil && len(others) == 0 {
		t.Fatalf("find the module of cilium/ebpf: %v", err)
	}
	patterns := []string{
		filepath.Join(strings.TrimSpace(string(dir)), "testdata", "*-el.elf"),
		filepath.Join(strings.TrimSpace(string(dir)), "examples", "*", "*_bpfel.o"),
		filepath.Join(strings.TrimSpace(string(dir)), "examples", "*", "*_x86_bpfel.o"),
		"/usr/lib/*/bpf/*.o",
		"../../programs/*/*.o",
		"../../cmd/ebpf-bench/testdata/objects/[^f]*.o", // faults.o is made to hang
	}
	for _, dir := range others {
		patterns = append(patterns, filepath.Join(dir, "*.o"))
	}
	var files []string
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// At least 995 of 1000 programs that load as they are load instrumented, and with
// few counters the verifier's work grows by a quarter at most.
func TestCorpusLoads(t *testing.T) {
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	for _, placement := range []Placement{Minimal, EveryBlock} {
		t.Run(fmt.Sprint(placement), func(t *testing.T) {
			var loadable, loaded, counters, blocks, before, after int
			for _, file := range corpus(t) {
				spec, err := ebpf.LoadCollectionSpec(file)
				if err != nil {
					continue
				}
				for _, name := range slices.Sorted(maps.Keys(spec.Programs)) {
					coll, err := loadWithLog(t, single(spec, name))
					if err != nil || coll.Programs[name] == nil {
						continue
					}
					loadable++
					log := coll.Programs[name].VerifierLog
					coll.Close()

					instrumented := single(spec, name)
					table, err := Instrument(instrumented, Options{
						Placement:   placement,
						StackDepths: map[string][]int{name: StackDepths(log)},
					})
					if err != nil {
						t.Logf("%s: %s: %v", filepath.Base(file), name, brief(err))
						continue
					}
					coll, err = loadWithLog(t, instrumented)
					if err != nil {
						t.Logf("%s: %s: %v", filepath.Base(file), name, brief(err))
						continue
					}
					loaded++
					counters += table.counters
					blocks += len(table.Program(name).Blocks)
					before += verified(t, log)
					after += verified(t, coll.Programs[name].VerifierLog)
					coll.Close()
				}
			}
			growth := float64(after) / float64(max(before, 1))
			t.Logf("%d of %d programs load, verifier's work grows %.3f times, %d counters for %d blocks",
				loaded, loadable, growth, counters, blocks)
			if loadable == 0 || loaded*1000 < loadable*995 {
				t.Errorf("%d of %d programs load instrumented", loaded, loadable)
			}
			if placement == Minimal && growth > 1.25 {
				t.Errorf("the verifier's work grows %.3f times", growth)
			}
		})
	}
}

// brief is an error with the end of the verifier's log.
func brief(err error) string {
	var refused *ebpf.VerifierError
	if errors.As(err, &refused) {
		return fmt.Sprintf("%v\n%s", err, strings.Join(refused.Log[max(0, len(refused.Log)-25):], "\n"))
	}
	return err.Error()
}

// Programs that can be run on a packet do the same with counters as without, and
// count the same wherever the counters are.
func TestCorpusBehaves(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	ran := 0
	for _, file := range corpus(t) {
		spec, err := ebpf.LoadCollectionSpec(file)
		if err != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(spec.Programs)) {
			switch spec.Programs[name].Type {
			case ebpf.XDP, ebpf.SchedCLS, ebpf.SchedACT, ebpf.SocketFilter, ebpf.CGroupSKB:
				if behaves(t, filepath.Base(file), single(spec, name), name) {
					ran++
				}
			}
		}
	}
	t.Logf("%d programs ran", ran)
	if ran == 0 {
		t.Error("no program ran")
	}
}

// behaves compares the runs of a program with and without counters, if it can be
// loaded and run at all.
func behaves(t *testing.T, file string, spec *ebpf.CollectionSpec, name string) bool {
	plain, err := loadWithLog(t, spec.Copy())
	if err != nil {
		return false
	}
	defer plain.Close()
	if _, _, err := plain.Programs[name].Test(packets()[0]); err != nil {
		return false
	}
	depths := map[string][]int{name: StackDepths(plain.Programs[name].VerifierLog)}
	minimal, minimalTable := instrumented(t, spec, Options{StackDepths: depths})
	defer minimal.Close()
	every, everyTable := instrumented(t, spec, Options{StackDepths: depths, Placement: EveryBlock})
	defer every.Close()
	run(t, minimal.Programs[name], packets()[0])
	run(t, every.Programs[name], packets()[0])

	for i, packet := range packets() {
		ret, out := run(t, plain.Programs[name], packet)
		a, retA, outA := counted(t, minimal, minimalTable, name, packet)
		b, retB, outB := counted(t, every, everyTable, name, packet)
		if len(minimalTable.Program(name).explanations()) > 0 && !a.Equal(b) {
			continue // it depends on more than the packet
		}
		if ret != retA || ret != retB || !bytes.Equal(out, outA) || !bytes.Equal(out, outB) {
			t.Errorf("%s: %s: packet %d: returns %d, with counters %d and %d, or other data", file, name, i, ret, retA, retB)
		}
		if !a.Equal(b) {
			t.Errorf("%s: %s: packet %d: counters in other places count otherwise", file, name, i)
		}
	}
	return true
}

// packets are those of an empty frame, of ARP, and of UDP and TCP over IPv4.
func packets() [][]byte {
	all := [][]byte{make([]byte, 64)}
	for _, start := range [][]byte{
		{0x08, 0x06},
		{0x08, 0x00, 0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 0, 81},
		{0x08, 0x00, 0x45, 0, 0, 50, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 90, 10, 0, 0, 2, 0, 80, 0, 81},
	} {
		p := make([]byte, 128)
		copy(p[12:], start)
		all = append(all, p)
	}
	return all
}
