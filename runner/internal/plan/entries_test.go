package plan_test

import (
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/programs"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/all"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

// Entries describe programs that no suite covers yet.
func TestEntries(t *testing.T) {
	all, err := plan.Entries([]suite.Object{bundled(t, "fun_xdp/fun_xdp_bpfel.o"), bundled(t, "perf_profiler/perf_profiler_bpfel.o")})
	if err != nil {
		t.Fatal(err)
	}
	find := func(program string) plan.Entry {
		i := slices.IndexFunc(all, func(e plan.Entry) bool { return e.Program == program })
		if i < 0 {
			t.Fatalf("no %s in %+v", program, all)
		}
		return all[i]
	}
	basic := find("fun_xdp_basic")
	if basic.Type != "xdp" || basic.Section != "xdp" || basic.Driver != "test_run" || !basic.Packets || basic.Benchmark != "fun_xdp_basic" || basic.Ambiguous {
		t.Errorf("%+v", basic)
	}
	if len(basic.Maps) != 1 || basic.Maps[0].Name != "sources" || !basic.Maps[0].Fillable || basic.Maps[0].KeySize != 4 || basic.Maps[0].ValueSize != 8 {
		t.Errorf("the maps of basic: %+v", basic.Maps)
	}
	if profile := find("profile"); profile.Driver != "perf_event" || profile.Packets || profile.Type != "perf_event" {
		t.Errorf("%+v", profile)
	}
}

// The listed globals are those that the program uses, with their types and
// values.
func TestGlobalsOfAnEntry(t *testing.T) {
	all, err := plan.Entries([]suite.Object{bundled(t, "work/work_bpfel.o")})
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Global{{Name: "STEPS", Type: "__u32", Size: 4, Value: uint64(200), Constant: true}}
	if !slices.Equal(all[0].Globals, want) {
		t.Errorf("%+v, want %+v", all[0].Globals, want)
	}
}

func bundled(t testing.TB, path string) suite.Object {
	t.Helper()
	data, err := programs.FS.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return suite.NewObject(path, data)
}
