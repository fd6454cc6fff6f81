package insn

import (
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
		"../../cmd/ebpf-bench/testdata/objects/*.o",
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

// At least 995 of 1000 programs that load as they are load instrumented, and the
// verifier's work grows by at most a quarter with the minimal placement.
func TestCorpusLoads(t *testing.T) {
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	type result struct{ before, after int }
	for _, placement := range []Placement{Minimal, EveryBlock} {
		t.Run(fmt.Sprint(placement), func(t *testing.T) {
			var loadable, loaded, counters, blocks int
			var work result
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
					work.before += verified(t, log)
					work.after += verified(t, coll.Programs[name].VerifierLog)
					if os.Getenv("DBG") != "" {
						fmt.Println("DBG", placement, filepath.Base(file), name, verified(t, log), verified(t, coll.Programs[name].VerifierLog), table.counters, len(table.Program(name).Blocks), len(table.Program(name).Instructions))
					}
					coll.Close()
				}
			}
			growth := float64(work.after) / float64(max(work.before, 1))
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
