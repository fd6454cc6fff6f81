package story

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/org/ebpf-bench-action/internal/bench"
)

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
	schemaFile, err := os.ReadFile(inRepository(ts, "internal/report/measured/testdata/bmf.schema.json"))
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

// readRuns reads the runs in a file and removes their times. It fails if a driver measured
// what it is said not to measure.
func readRuns(ts *testscript.TestScript, name string) []*bench.Run {
	runs, err := bench.DecodeRuns(strings.NewReader(ts.ReadFile(name)))
	ts.Check(err)
	for _, run := range runs {
		run.Started = time.Time{}
		for _, r := range run.Results {
			for _, s := range r.Samples {
				if m := s.Measure.Name; !bench.CanMeasure(r.Driver, m) || !run.Testbed.Mode.Measures(m) {
					ts.Fatalf("%s: %s in %s mode has %s", r.Benchmark, r.Driver, run.Testbed.Mode, m)
				}
			}
		}
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
