package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// replacing resolves benchmarks of programs with replaced functions.
func replacing(t *testing.T, benchmarks string) (*Plan, error) {
	t.Helper()
	return NewPlan(replacingSuite(t, benchmarks))
}

func replacingSuite(t *testing.T, benchmarks string) *suite.Suite {
	t.Helper()
	files := fstest.MapFS{"s.yml": {Data: []byte("version: 1\nobjects: [replaced.o, plugin.o]\nbenchmarks:\n" + benchmarks)}}
	for _, o := range replacingObjects(t) {
		files[o.Path] = &fstest.MapFile{Data: o.Data}
	}
	s, err := suite.Load(files, "s.yml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func replacingObjects(t *testing.T) (all []suite.Object) {
	t.Helper()
	for _, name := range []string{"replaced.o", "plugin.o"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, suite.NewObject(name, data))
	}
	return all
}

// With any driver, the replacement determines the result and the instructions
// of a run. It may use maps of the program's object or of another.
func TestFunctionsAreReplaced(t *testing.T) {
	testenv.Probe(t, "freplace")
	const drop, pass, back, redirect = 1, 2, 3, 4
	plan, err := replacing(t, `
  - {name: as it is, program: filter, test_run: {}}
  - {name: own object, program: filter, replace: [{program: rate_dropping}], test_run: {}}
  - {name: shared map, program: filter, replace: [{program: rate_dropping}], maps: {seen: {entries: [{key: 0, value: 5}]}}, test_run: {}}
  - {name: another object, program: filter, replace: [{program: rate_plugged}], globals: {verdict: 3, otherwise: 0, otherwise of plugin.o: 1}, maps: {seen of plugin.o: {entries: [{key: 1, value: 1}]}}, test_run: {}}
  - {name: first function, program: filter, replace: [{program: rate_dropping, function: filter}], test_run: {}}
  - {name: named, program: shape, replace: [{program: weigh_anew, function: weigh}], test_run: {}}
  - {name: veth, program: filter, replace: [{program: rate_dropping}], veth: {count: 64}}
  - {name: parallel, program: filter, replace: [{program: rate_slow}], parallel: true}
  - {name: tail call, program: hand_on, replace: [{program: rate_slow}], maps: {next: {entries: [{key: 0, program: send_back}]}}, test_run: {}}
  - {name: failed tail call, program: hand_on, replace: [{program: rate_slow}], test_run: {}}
  - {name: verify, program: filter, replace: [{program: rate_slow}], verify: {}}
`)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Measure(context.Background(), plan, fewRounds)
	if err != nil {
		t.Fatal(err)
	}
	insns := map[string]float64{}
	for _, r := range run.Results {
		if s := r.Sample(bench.BPFInsns.Name); s != nil {
			insns[r.Benchmark] = s.Values[0]
		}
		want := map[string]uint32{
			"as it is": pass, "own object": drop, "shared map": pass, "another object": redirect, "first function": drop, "named": 2, "parallel": drop, "tail call": back, "failed tail call": drop,
		}
		if verdict, ok := want[r.Benchmark]; r.Error != "" || ok && r.Retvals[verdict] == 0 || ok && len(r.Retvals) != 1 {
			t.Errorf("%s: error %q, returned %v, want %d", r.Benchmark, r.Error, r.Retvals, verdict)
		}
		if n := len(r.Replaced); (n == 0) != (r.Benchmark == "as it is") {
			t.Errorf("%s: %d functions are replaced", r.Benchmark, n)
		}
		failed := strings.Contains(strings.Join(r.Warnings, "\n"), "the tail call at replaced.c:")
		if failed != (r.Benchmark == "failed tail call") {
			t.Errorf("%s: warnings %q", r.Benchmark, r.Warnings)
		}
		if r.Benchmark == "another object" && (r.Replaced[0].Function != "rate" || r.Replaced[0].Object != "plugin.o" || r.Maps[0].Name != "seen of plugin.o" || r.Maps[0].After != 2) {
			t.Errorf("%s: replaced %+v, maps %+v", r.Benchmark, r.Replaced, r.Maps)
		}
	}
	if insns["as it is"] == 0 || insns["parallel"] < 900 || insns["named"] != 4 || insns["veth"] != insns["own object"] {
		t.Errorf("executed %v", insns)
	}
	if slow, plain := run.Results[10].Sample(bench.VerifiedInsns.Name), run.Results[0].Sample(bench.VerifiedInsns.Name); slow != nil && slow.Values[0] < plain.Values[0]+900 {
		t.Errorf("%v verified instructions with a replacement, %v without", slow.Values, plain.Values)
	}
}

// In a comparison of two suites, the base also gets the head's values for what
// a replacement adds.
func TestReplacementsAreComparedWithTheSameValues(t *testing.T) {
	const benchmark = `  - {name: a, program: filter, replace: [{program: rate_plugged}], globals: {verdict: 3}, maps: {seen of plugin.o: {entries: [{key: 1, value: 1}]}}}`
	pairs, err := PlanSuites(replacingSuite(t, benchmark), replacingSuite(t, benchmark))
	if err != nil {
		t.Fatal(err)
	}
	base := pairs[0].Base
	if base == nil || base.Globals["verdict"] == nil || len(base.Entries["seen of plugin.o"]) != 1 || !slices.Equal(base.Warnings, pairs[0].Head.Warnings) {
		t.Errorf("%+v", base)
	}
}

// The lines of a replacement are explained, too.
func TestReplacementsAreExplained(t *testing.T) {
	testenv.Probe(t, "freplace")
	plan, err := replacing(t, `  - {name: plugged, program: filter, replace: [{program: rate_plugged}], test_run: {}}`)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Explain(context.Background(), []PairJob{{Head: plan.Jobs[0]}}, Options{}, true)
	if err != nil || e.Programs[0].Error != "" {
		t.Fatalf("%+v, %v", e, err)
	}
	var files []string
	for _, l := range e.Programs[0].Lines {
		files = append(files, l.File)
		if strings.HasPrefix(l.Function, "rate_plugged") && (l.Head.PerRun == 0 || l.Head.Code[0].Machine == nil) {
			t.Errorf("%s:%d: %+v", l.File, l.Number, l.Head)
		}
		if l.Function == "rate" && l.Head.PerRun > 0 {
			t.Errorf("%s:%d is executed, and is of a function that was replaced", l.File, l.Number)
		}
	}
	if !slices.Contains(files, "plugin.c") || !slices.Contains(files, "replaced.c") {
		t.Errorf("lines of %q", files)
	}
}

// The verifier's reason against a replacement names the replacement.
func TestReplacementsThatDoNotFit(t *testing.T) {
	testenv.Probe(t, "freplace")
	plan, err := replacing(t, `  - {name: mistyped, program: filter, replace: [{program: rate_mistyped}]}`)
	if err != nil {
		t.Fatal(err)
	}
	run, err := Measure(context.Background(), plan, fewRounds)
	if err != nil {
		t.Fatal(err)
	}
	const want = "the verifier refuses program rate_mistyped: arg0 rate_mistyped(struct __sk_buff *) doesn't match rate(struct xdp_md *)"
	if got := run.Results[0].Error; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Entries that replace a function find the program that has it.
func TestEntriesThatReplace(t *testing.T) {
	all, err := Entries(replacingObjects(t))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]string{}
	for _, e := range all {
		if e.Replaces {
			targets[e.Program] = ""
		}
		if e.Target != nil {
			targets[e.Program] = e.Target.Object + ":" + e.Target.Program
		}
	}
	const filter = "replaced.o:filter"
	for program, want := range map[string]string{"rate_dropping": filter, "rate_slow": filter, "rate_plugged": filter, "rate_mistyped": filter, "weigh_anew": ""} {
		if got, ok := targets[program]; !ok || got != want {
			t.Errorf("%s replaces a function of %q, want %q", program, got, want)
		}
	}
	if len(targets) != 5 {
		t.Errorf("%v", targets)
	}
}
