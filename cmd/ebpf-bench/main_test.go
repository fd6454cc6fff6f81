package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/kerneltest"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/vm/guest"
	"github.com/org/ebpf-bench-action/internal/workload/process"
)

func TestMain(m *testing.M) {
	guest.Main()
	if os.Getenv(asMain) != "" {
		main()
	}
	if dir := os.Getenv(asStore); dir != "" {
		if err := fillStore(dir); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	process.RunHelper()
	testscript.Main(m, map[string]func(){"ebpf-bench": main})
}

// The stories in testdata/script run as a user would type them.
func TestScripts(t *testing.T) {
	objects, err := filepath.Abs("testdata/objects")
	if err != nil {
		t.Fatal(err)
	}
	missing, err := probe.Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	root := len(missing) == 0 && !testenv.NoHost()
	if !root && !testenv.NoHost() && os.Getenv("CI") != "" {
		testenv.Root(t)
	}
	if os.Getenv("CI") != "" {
		// Stories are skipped if these are missing.
		testenv.Tools(t, "git", "dpkg-deb", "pgrep")
	}
	vms, static := kerneltest.CanBoot(t), ""
	if vms {
		static = staticTool(t)
	}
	testscript.Run(t, testscript.Params{
		Files:               stories(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("OBJECTS", objects)
			env.Setenv("BUNDLED", filepath.Join(objects, "../../../../programs"))
			env.Setenv("HOOKS", filepath.Join(objects, "../../../../runner/testdata"))
			env.Setenv("TERM", "xterm")
			env.Setenv("EBPF_BENCH", static)
			env.Values[storyKey{}] = &storyGitHub{}
			// The kernels are in the cache of the user who runs the test.
			cache, err := os.UserCacheDir()
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("GOPATH", build.Default.GOPATH)
			return err
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return root, nil
			case "vm":
				return vms, nil
			case "hostkernel":
				return hasHostKernel(), nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bmf":      checkBMF,
			"bencher":  playBencher,
			"exactly":  checkExactly,
			"same":     checkSame,
			"exitcode": checkExitCode,
			"nobody":   runAsNobody,
			"run":      checkRun,
			"result":   makeResult,

			"github":     playGitHub,
			"comparison": makeComparison,

			"installkernel": installKernel,
			"registry":      serveImage,
		},
	})
}

// stories returns the files of the stories, or those that EBPF_BENCH_TEST_STORIES names: a
// filter of go test would leave their folder behind.
func stories(t *testing.T) []string {
	t.Helper()
	names := []string{"*"}
	if only := os.Getenv("EBPF_BENCH_TEST_STORIES"); only != "" {
		names = strings.Split(only, ",")
	}
	var all []string
	for _, name := range names {
		files, err := filepath.Glob(filepath.Join("testdata/script", name+".txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no story %q in testdata/script", name)
		}
		all = append(all, files...)
	}
	return all
}

// staticTool builds the tool so that a virtual machine can run it. The test's own binary
// is not suitable with the race detector.
func staticTool(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ebpf-bench")
	cmd := exec.Command("go", "build", "-o", name, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the tool: %v\n%s", err, out)
	}
	return name
}

// checkExitCode runs a command and fails unless it exits with the code, with a reason and
// without a stack trace: exitcode CODE COMMAND...
func checkExitCode(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want || neg {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	stderr := ts.ReadFile("stderr")
	if want != 0 && !regexp.MustCompile(`(?m)^ebpf-bench: (error|regression|over budget): `).MatchString(stderr) {
		ts.Fatalf("no error is said")
	}
	if strings.Contains(stderr, "goroutine ") {
		ts.Fatalf("a stack trace")
	}
}

// runAsNobody runs a command without privileges: nobody CODE COMMAND...
func runAsNobody(ts *testscript.TestScript, neg bool, args []string) {
	nobody := append([]string{args[0], "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, args[1:]...)
	checkExitCode(ts, neg, nobody)
}

// checkBMF fails unless a file (or stdout) is one document of Bencher Metric Format: bmf
// FILE BENCHMARK...
func checkBMF(ts *testscript.TestScript, neg bool, args []string) {
	schemaFile, err := os.ReadFile("../../internal/report/measured/testdata/bmf.schema.json")
	ts.Check(err)
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaFile))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource("bmf.schema.json", schema))
	compiled, err := c.Compile("bmf.schema.json")
	ts.Check(err)
	text := ts.ReadFile(args[0])
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	ts.Check(err)
	ts.Check(compiled.Validate(doc))
	var results map[string]any
	ts.Check(json.Unmarshal([]byte(text), &results))
	for _, name := range args[1:] {
		if _, ok := results[name]; ok == neg {
			ts.Fatalf("benchmark %q: in the document: %v", name, ok)
		}
	}
}

// checkRun fails unless a file (or stdout) is a whole run that measured each of the
// benchmarks: run FILE BENCHMARK...
func checkRun(ts *testscript.TestScript, neg bool, args []string) {
	run, err := bench.DecodeRun(bytes.NewReader([]byte(ts.ReadFile(args[0]))))
	ts.Check(err)
	if run.Testbed.Kernel == "" || run.Seed == 0 || run.Tool == "" {
		ts.Fatalf("the run does not say where and how it was measured: %+v", run)
	}
	measured := map[string]bool{}
	for _, r := range run.Results {
		s := r.Sample(bench.Latency.Name)
		measured[r.Benchmark] = s != nil && len(s.Values) > 0 && r.Rounds.Runs() > 0
	}
	for _, name := range args[1:] {
		if measured[name] == neg {
			ts.Fatalf("benchmark %q: measured: %v", name, measured[name])
		}
	}
}

// readRuns reads the runs in a file and removes their times.
func readRuns(ts *testscript.TestScript, name string) []*bench.Run {
	runs, err := bench.DecodeRuns(strings.NewReader(ts.ReadFile(name)))
	ts.Check(err)
	for _, run := range runs {
		run.Started = time.Time{}
	}
	return runs
}

// checkExactly fails unless one benchmark executes that many instructions more than
// another, on every kernel: exactly FILE MORE BENCHMARK OTHER MEASURE.
func checkExactly(ts *testscript.TestScript, neg bool, args []string) {
	more, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	runs := readRuns(ts, args[0])
	if len(runs) < 2 {
		ts.Fatalf("%d runs", len(runs))
	}
	for _, run := range runs {
		counts := map[string]float64{}
		for i := range run.Results {
			if s := run.Results[i].Sample(args[4]); s != nil {
				counts[run.Results[i].Benchmark] = s.Values[0]
			}
		}
		if got := counts[args[3]] - counts[args[2]]; got != more || counts[args[2]] == 0 || neg {
			ts.Fatalf("%s: %v and %v instructions differ by %v, want %v", run.Testbed.Kernel, counts[args[2]], counts[args[3]], got, more)
		}
		ts.Logf("%s: %v and %v instructions", run.Testbed.Kernel, counts[args[2]], counts[args[3]])
	}
}

// checkSame fails unless two files have the same runs apart from their start time: same
// [but-path] FILE FILE. The cost of a path depends on the layout of memory, and so on the
// rest of the suite.
func checkSame(ts *testscript.TestScript, neg bool, args []string) {
	butPath := args[0] == "but-path"
	if butPath {
		args = args[1:]
	}
	var texts [2]bytes.Buffer
	for i := range texts {
		runs := readRuns(ts, args[i])
		for _, run := range runs {
			for j := range run.Results {
				if r := &run.Results[j]; butPath {
					r.Path = nil
					r.Samples = slices.DeleteFunc(r.Samples, func(s bench.Sample) bool { return s.Measure.Name == bench.InstructionsPath.Name })
				}
			}
		}
		ts.Check(bench.EncodeRuns(&texts[i], runs...))
	}
	a, b := texts[0].String(), texts[1].String()
	if same := a == b; same == neg {
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		around := func(s string) string { return s[max(at-300, 0):min(at+60, len(s))] }
		ts.Fatalf("the same: %v\n%s\n%s", same, around(a), around(b))
	}
}

func TestClean(t *testing.T) {
	hostile := "a\x1b[31mred\x1b]0;title\x07\r\nb\tc\u202e"
	if got := ui.Clean(hostile); regexp.MustCompile(`[\x00-\x1f\x7f]|\x{202e}`).MatchString(got) {
		t.Errorf("clean(%q) = %q moves the cursor", hostile, got)
	}
}
