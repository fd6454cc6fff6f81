package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/programs"
)

func bundled(t testing.TB, path string) suite.Object {
	t.Helper()
	data, err := programs.FS.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return suite.NewObject(path, data)
}

func TestSuggestedSuiteHasEveryProgram(t *testing.T) {
	xdp, profiler := bundled(t, "fun_xdp/fun_xdp_bpfel.o"), bundled(t, "perf_profiler/perf_profiler_bpfel.o")
	text, err := Suggest([]suite.Object{xdp, profiler}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tryPlan(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	drivers := map[string]string{}
	for _, j := range plan.Jobs {
		drivers[j.Name] = j.Driver()
	}
	for name, want := range map[string]string{"fun_xdp_basic": "test_run", "fun_xdp_fizz": "test_run", "profile": "perf_event"} {
		if drivers[name] != want {
			t.Errorf("%s is driven by %q, want %s", name, drivers[name], want)
		}
	}
}

// A program that two objects have is named after its object, and a program that
// only the other build has gets a benchmark, too.
func TestSuggestTellsObjectsApart(t *testing.T) {
	xdp, profiler := bundled(t, "fun_xdp/fun_xdp_bpfel.o"), bundled(t, "perf_profiler/perf_profiler_bpfel.o")
	twin := suite.NewObject("other/twin.o", profiler.Data)
	text, err := Suggest([]suite.Object{profiler, twin}, []suite.Object{xdp})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`name: "perf_profiler_bpfel/profile"`, `name: "twin/profile"`, `object: "other/twin.o"`, `name: "fun_xdp_fizz"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, xdp.Path) {
		t.Errorf("the suite names the other build's files:\n%s", text)
	}
}

func TestPlanPairsFindsAddedAndRemoved(t *testing.T) {
	xdp, profiler := bundled(t, "fun_xdp/fun_xdp_bpfel.o"), bundled(t, "perf_profiler/perf_profiler_bpfel.o")
	text, err := Suggest([]suite.Object{xdp}, []suite.Object{profiler})
	if err != nil {
		t.Fatal(err)
	}
	s := suiteOf(t, text)
	pairs, err := PlanPairs(s, s.WithObjects([]suite.Object{profiler}))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if profile := p.Name() == "profile"; profile != (p.Head == nil) || profile != (p.Base != nil) {
			t.Errorf("%s: base %v, head %v", p.Name(), p.Base != nil, p.Head != nil)
		}
	}
	if names, err := NeitherHas(s, s.WithObjects([]suite.Object{profiler})); err != nil || len(names) > 0 {
		t.Errorf("%q are on neither side, error %v", names, err)
	}
	if names, err := NeitherHas(s.WithObjects(nil), s.WithObjects([]suite.Object{xdp})); err != nil || !slices.Equal(names, []string{"profile"}) {
		t.Errorf("%q are on neither side, error %v", names, err)
	}
	nowhere := suiteOf(t, objects+"  - {name: a, program: nowhere, test_run: {}}\n")
	if _, err := PlanPairs(nowhere, nowhere.WithObjects([]suite.Object{xdp})); err == nil {
		t.Error("a program that neither side has is not an error")
	}
}
