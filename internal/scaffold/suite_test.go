package scaffold

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/programs"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

var update = flag.Bool("update", false, "write the golden files anew, and fail")

// golden compares text with a file that a person has checked.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	want, err := os.ReadFile(file)
	if err == nil && string(want) == text {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("wrote %s: look at it", file)
	}
	t.Errorf("%s is another one (%v):\n%s", file, err, text)
}

// bundled returns the suite for bundled objects.
func bundled(t *testing.T, names ...string) (*Suite, fstest.MapFS) {
	t.Helper()
	files := fstest.MapFS{}
	var objects []suite.Object
	for _, name := range names {
		data, err := programs.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data, Mode: 0o444}
		objects = append(objects, suite.NewObject(name, data))
	}
	entries, err := runner.Entries(objects)
	if err != nil {
		t.Fatal(err)
	}
	s := &Suite{Objects: names}
	for _, e := range entries {
		s.Programs = append(s.Programs, Program{Entry: e})
	}
	return s, files
}

// plan reads the suite as run does.
func plan(t *testing.T, files fstest.MapFS, text string) *runner.Plan {
	t.Helper()
	files["suite.yml"] = &fstest.MapFile{Data: []byte(text), Mode: 0o444}
	s, err := suite.Load(files, "suite.yml")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, err := runner.NewPlan(s)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// run accepts the written suite, also with everything enabled that is in a
// comment.
func TestSuiteIsTaken(t *testing.T) {
	s, files := bundled(t, "fun_xdp/fun_xdp_bpfel.o", "perf_profiler/perf_profiler_bpfel.o")
	text := s.Text()
	golden(t, "bundled.yml", text)
	if p := plan(t, files, text); len(p.Jobs) != len(s.Programs) {
		t.Errorf("%d benchmarks of %d programs", len(p.Jobs), len(s.Programs))
	}
	setting := regexp.MustCompile(`(?m)^( *)# ((?:globals|maps|kernels|budget):.*|  \w+: .*)$`)
	if all := setting.FindAllString(text, -1); len(all) < 8 {
		t.Errorf("just %d settings are in comments: %q", len(all), all)
	}
	p := plan(t, files, setting.ReplaceAllString(text, "$1$2"))
	for _, j := range p.Jobs {
		if j.Name == "profile" && j.Globals["PID"] != 0 {
			t.Errorf("the globals of profile: %v", j.Globals)
		}
		if j.Name == "fun_xdp_basic" && len(j.Maps["sources"].Entries) != 1 {
			t.Errorf("the maps of fun_xdp_basic: %v", j.Maps)
		}
	}
}

// The results of trying the programs decide what the suite says about each.
func TestSuiteSaysWhyNot(t *testing.T) {
	hostile := "no\n  - name: planted # \x1b[31m"
	entry := func(name, typ, driver string) runner.Entry {
		return runner.Entry{Object: "a.o", Program: name, Benchmark: name, Type: typ, Section: typ, Driver: driver}
	}
	target, replaces := entry("target", "xdp", "test_run"), entry("other", "ext", "verify")
	target.Callers, replaces.Replaces = []string{"entry"}, true
	inPlace, caller := entry("in_place", "ext", "test_run"), entry("caller", "xdp", "test_run")
	inPlace.Section, inPlace.Replaces, inPlace.Target, inPlace.Ambiguous = "freplace/part", true, &caller, true
	ops := entry("ops", "struct_ops", "verify")
	ops.Why = "the kernel calls it"
	s := &Suite{
		Objects: []string{"a.o"}, Kernels: []string{"5.10", "6.12"}, Thresholds: "thresholds.yml", Notes: []string{"Tried nowhere."},
		Programs: []Program{
			{Entry: entry("entry", "xdp", "test_run")}, {Entry: target}, {Entry: replaces}, {Entry: inPlace},
			{Entry: runner.Entry{Object: "a.o", Program: "odd", Section: "mine/odd", Untyped: true}}, {Entry: ops},
			{Entry: entry("unloved", "kprobe", "command"), Undriven: "no such hook"},
			{Entry: entry("slip", "tracepoint", "command"), Undriven: "on Linux 6.18: " + runner.Misspelled + "this kernel has no tracepoint opnat (did you mean \"openat\"?)"},
			{Entry: entry("elsewhere", "kprobe", "command"), Unhooked: "on Linux 6.18: this kernel has no kprobes"},
			{Entry: entry("tracing", "tracepoint", "command")}, {Entry: entry("again", "tracepoint", "command")},
			{Entry: entry("broken", "xdp", "test_run"), Refused: hostile},
		},
	}
	golden(t, "reasons.yml", s.Text())
	if n := len(s.Benchmarks()); n != 8 {
		t.Errorf("%d benchmarks", n)
	}
	files := fstest.MapFS{"a.o": {Data: []byte("x"), Mode: 0o444}, "s.yml": {Data: []byte(s.Text()), Mode: 0o444}}
	read, err := suite.Load(files, "s.yml")
	if err != nil || len(read.Benchmarks) != 8 || len(read.Benchmarks[1].Replace) != 1 || read.Thresholds != "thresholds.yml" || len(read.Kernels) != 2 {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestNamesThatYAMLTakesForSomethingElse(t *testing.T) {
	for _, name := range []string{"no", "Null", "~", "1e3", "a: b", "*x", "#", "", "'", "a\nb", "ключ", "*.o"} {
		s := &Suite{Objects: []string{"a.o"}, Programs: []Program{{Entry: runner.Entry{Object: "a.o", Program: "p" + name, Benchmark: "b" + name, Driver: "verify"}}}}
		s.Programs[0].Program = name
		files := fstest.MapFS{"a.o": {Data: []byte("x")}, "s.yml": {Data: []byte(s.Text())}}
		read, err := suite.Load(files, "s.yml")
		if name == "" || name == "a\nb" {
			if err == nil {
				t.Errorf("%q is taken", name)
			}
			continue
		}
		if err != nil || read.Benchmarks[0].Program != name {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The written thresholds apply to the suite.
func TestThresholdsAreTaken(t *testing.T) {
	s, _ := bundled(t, "fun_xdp/fun_xdp_bpfel.o")
	golden(t, "thresholds.yml", s.ThresholdsText())
	loaded, _ := bundled(t, "fun_xdp/fun_xdp_bpfel.o")
	for i := range loaded.Programs {
		loaded.Programs[i].Undriven = "for the test"
	}
	for _, s := range []*Suite{s, loaded} {
		var scope thresholds.Scope
		for _, p := range s.Benchmarks() {
			scope.Benchmarks = append(scope.Benchmarks, thresholds.Benchmark{Name: p.Benchmark, Driver: p.Drives()})
		}
		text := s.ThresholdsText()
		for _, text := range []string{text, strings.ReplaceAll(text, "# - {", "- {")} {
			policy, err := thresholds.Load(fstest.MapFS{"t.yml": {Data: []byte(text)}}, "t.yml")
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if err := policy.Check(scope); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			if idle := policy.NothingForARun(nil); idle != "" {
				t.Error(idle)
			}
		}
	}
}
