package runner

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/workload/process"
	"github.com/org/ebpf-bench-action/programs"
)

func TestMain(m *testing.M) {
	process.RunHelper()
	os.Exit(m.Run())
}

// planOf resolves a suite that stands beside the bundled objects.
func planOf(t testing.TB, text string) *Plan {
	t.Helper()
	plan, err := tryPlan(text)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func tryPlan(text string) (*Plan, error) {
	s, err := trySuite(text)
	if err != nil {
		return nil, err
	}
	return NewPlan(s)
}

func suiteOf(t testing.TB, text string) *suite.Suite {
	t.Helper()
	s, err := trySuite(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trySuite(text string) (*suite.Suite, error) {
	files := fstest.MapFS{"suite.yml": {Data: []byte(text)}}
	for _, name := range []string{"fun_xdp/fun_xdp_bpfel.o", "perf_profiler/perf_profiler_bpfel.o"} {
		data, err := programs.FS.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return suite.Load(files, "suite.yml")
}

const objects = "version: 1\nobjects: [fun_xdp/fun_xdp_bpfel.o, perf_profiler/perf_profiler_bpfel.o]\nbenchmarks:\n"
