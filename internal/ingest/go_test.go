package ingest

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const goOutputText = `goos: linux
goarch: amd64
pkg: example.org/agent/record
cpu: AMD EPYC 7B13
BenchmarkDecode-2                  	 5206131	       227.9 ns/op	 421.22 MB/s	     144 B/op	       2 allocs/op
BenchmarkDecode-2                  	 5206131	       230.1 ns/op	 417.19 MB/s	     145 B/op	       2 allocs/op
BenchmarkDecode/stack=64-2         	 1000000	      1056 ns/op	         3.500 frames/op	     0.25 p99-ns
--- FAIL: BenchmarkBroken-2
    record_test.go:12: no
Benchmark results follow, says somebody
PASS
ok  	example.org/agent/record	3.917s
pkg: example.org/agent/xdp
BenchmarkClassify-2	 100	 12 ns/op
PASS
`

func readText(t *testing.T, texts ...string) *Set {
	t.Helper()
	s := &Set{}
	for _, text := range texts {
		if err := s.Read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func find(t *testing.T, s *Set, name string) *bench.Result {
	t.Helper()
	var names []string
	for _, r := range s.Results() {
		if r.Benchmark == name {
			return &r
		}
		names = append(names, r.Benchmark)
	}
	t.Fatalf("no %s: there are %q", name, names)
	return nil
}

func TestGoOutput(t *testing.T) {
	s := readText(t, goOutputText)
	decode := find(t, s, "record.Decode")
	if decode.Driver != "go" || decode.Object != "example.org/agent/record" || decode.Program != "BenchmarkDecode" {
		t.Errorf("%+v", decode)
	}
	want := []bench.Sample{
		{Measure: bench.Latency, Values: []float64{227.9, 230.1}},
		{Measure: bench.Measure{Name: "MB/s", Unit: "MB/s", Direction: bench.HigherIsBetter}, Values: []float64{421.22, 417.19}},
		{Measure: bench.HeapBytes, Values: []float64{144, 145}},
		{Measure: bench.Allocs, Values: []float64{2, 2}},
	}
	if !reflect.DeepEqual(decode.Samples, want) {
		t.Errorf("%+v, want %+v", decode.Samples, want)
	}
	deep := find(t, s, "record.Decode/stack=64")
	if deep.Program != "BenchmarkDecode" || deep.Sample("frames/op").Values[0] != 3.5 || deep.Sample("p99-ns") == nil {
		t.Errorf("%+v", deep)
	}
	if broken := find(t, s, "record.Broken"); broken.Error == "" || len(broken.Samples) != 0 {
		t.Errorf("%+v", broken)
	}
	if r := find(t, s, "xdp.Classify"); r.Sample("latency").Values[0] != 12 {
		t.Errorf("%+v", r)
	}
	if s.CPU != "AMD EPYC 7B13" || s.Arch != "amd64" || len(s.Failed) != 0 || len(s.Results()) != 4 {
		t.Errorf("%+v", s)
	}
}

// The same benchmark in several outputs is one sample: each process of go test has its own
// luck.
func TestSeveralOutputs(t *testing.T) {
	s := readText(t, goOutputText, goOutputText)
	if v := find(t, s, "record.Decode").Sample("latency").Values; len(v) != 4 {
		t.Errorf("%v", v)
	}
	err := s.Read(strings.NewReader("cpu: another one\nBenchmarkX 1 1 ns/op\n"))
	if err == nil || !strings.Contains(err.Error(), "different machines") {
		t.Errorf("the output of another machine: %v", err)
	}
}

func TestNamesOfGo(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"BenchmarkA 1 1 ns/op\n", []string{"A"}},
		{"Benchmark 1 1 ns/op\n", []string{"Benchmark"}},
		{"BenchmarkA-8 1 1 ns/op\nBenchmarkB/n-8 1 1 ns/op\n", []string{"A", "B/n"}},
		{"BenchmarkA-2 1 1 ns/op\nBenchmarkA-4 1 1 ns/op\n", []string{"A-2", "A-4"}},
		{"BenchmarkA 1 1 ns/op\nBenchmarkB/size-64 1 1 ns/op\n", []string{"A", "B/size-64"}},
		{"pkg: x/a\nBenchmarkA 1 1 ns/op\npkg: y/a\nBenchmarkA 1 1 ns/op\nBenchmarkB 1 1 ns/op\n", []string{"x/a.A", "y/a.A", "a.B"}},
	} {
		var names []string
		for _, r := range readText(t, c.text).Results() {
			names = append(names, r.Benchmark)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%q: %q, want %q", c.text, names, c.want)
		}
	}
}

func TestGoEvents(t *testing.T) {
	const text = `{"Action":"start","Package":"example.org/a"}
{"Action":"output","Package":"example.org/a","Output":"goos: linux\n"}
{"Action":"output","Package":"example.org/b","Output":"BenchmarkB\n"}
{"Action":"output","Package":"example.org/a","Test":"BenchmarkA","Output":"BenchmarkA-2 \t"}
{"Action":"output","Package":"example.org/b","Test":"BenchmarkB","Output":"BenchmarkB-2 \t 5\t 7 ns/op\n"}
{"Action":"output","Package":"example.org/a","Test":"BenchmarkA","Output":" 10\t 12.5 ns/op\n"}
{"Action":"output","Package":"example.org/c","Output":"FAIL\texample.org/c [build failed]\n"}
{"Action":"fail","Package":"example.org/c"}
`
	s := readText(t, text)
	if v := find(t, s, "a.A").Sample("latency").Values; !slices.Equal(v, []float64{12.5}) {
		t.Errorf("%v", v)
	}
	if r := find(t, s, "b.B"); r.Object != "example.org/b" {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(slices.Compact(s.Failed), []string{"example.org/c"}) {
		t.Errorf("failed: %q", s.Failed)
	}
}

// A failure is reported as one, however little of it go test got to print.
func TestWhatFailedOfGo(t *testing.T) {
	for _, c := range []struct {
		text      string
		benchmark string
		failed    []string
	}{
		{"BenchmarkA-2\t10\t7 ns/op\nBenchmarkBad-2   \t--- FAIL: BenchmarkBad-2\n    x_test.go:9: boom\nFAIL\n", "Bad", nil},
		{"BenchmarkBad-2   \t--- FAIL: BenchmarkBad-2\n", "Bad", nil},
		{"BenchmarkNot-2 \t--- SKIP: BenchmarkNot-2\n--- FAIL: BenchmarkBad\n", "Bad", nil},
		{"pkg: a/b\n--- FAIL: TestX (0.00s)\nFAIL\ta/b\t0.1s\n", "", []string{"a/b.TestX", "a/b"}},
		{`{"Action":"fail","Package":"a/b","Test":"TestX"}` + "\n" + `{"Action":"fail","Package":"a/b"}`, "", []string{"a/b.TestX", "a/b"}},
		{`{"Action":"output","Package":"a/b","Output":"BenchmarkA-2 1"}` + "\n" + `{"Action":"output","Package":"a/b","Output":" 7 ns/op\n"}` + "\n" +
			`{"Action":"fail","Package":"a/b","Test":"BenchmarkBad"}`, "b.Bad", nil},
	} {
		s := readText(t, c.text)
		if !slices.Equal(s.Failed, c.failed) {
			t.Errorf("%q: failed %q, want %q", c.text, s.Failed, c.failed)
		}
		if c.benchmark != "" && find(t, s, c.benchmark).Error == "" {
			t.Errorf("%q: %s did not fail", c.text, c.benchmark)
		}
	}
}

func TestUnitsSayWhatTheyAre(t *testing.T) {
	s := readText(t, "Unit hits/op better=higher assume=exact\nUnit drops/s better=lower\nBenchmarkA 1 3 hits/op 4 drops/s 5 x/s 6 records/op 7 p99-ns/op 0.9 hit-ratio 8 cycles\n")
	r := find(t, s, "A")
	if m := r.Sample("hits/op").Measure; m.Direction != bench.HigherIsBetter || !m.Exact {
		t.Errorf("%+v", m)
	}
	if m := r.Sample("drops/s").Measure; m.Direction != bench.LowerIsBetter || m.Exact {
		t.Errorf("%+v", m)
	}
	for unit, want := range map[string]bench.Direction{"x/s": bench.HigherIsBetter, "records/op": bench.UnknownDirection, "p99-ns/op": bench.LowerIsBetter,
		"hit-ratio": bench.UnknownDirection, "cycles/op": bench.UnknownDirection} {
		if m := r.Sample(unit).Measure; m.Unit != unit || m.Direction != want {
			t.Errorf("%+v, want %s", m, want)
		}
	}
	if err := s.Better("records/op", bench.HigherIsBetter); err != nil || find(t, s, "A").Sample("records/op").Measure.Direction != bench.HigherIsBetter {
		t.Errorf("said of records/op that more is better: %v", err)
	}
	for _, unit := range []string{"nothing/op", "latency"} {
		if s.Better(unit, bench.HigherIsBetter) == nil {
			t.Errorf("%s is not a unit of a benchmark's own here", unit)
		}
	}
}

func TestGoRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "no benchmark in it"},
		{"PASS\nok  \tx\t1s\n", "no benchmark in it"},
		{"BenchmarkA-2\t100\t12\n", "line 1: the result of BenchmarkA-2 is cut off"},
		{"\nBenchmarkA-2\t100\n", "line 2: the result of BenchmarkA-2 is cut off"},
		{"BenchmarkA-2\thello\n 100\t12 ns/op\n", "BenchmarkA-2 has no result in its line"},
		{"BenchmarkA 0 12 ns/op\n", "has no result"},
		{"BenchmarkA 1 x ns/op\n", `"x" is not a number`},
		{"BenchmarkA 1 -1 ns/op\n", "is -1"},
		{"BenchmarkA 1 NaN ns/op\n", "is NaN"},
		{"BenchmarkA 1 +Inf records/op\n", "is +Inf"},
		{"BenchmarkA\x1b[31m 1 1 ns/op\n", "cannot be printed"},
		{"BenchmarkA 1 1 x\x07/op\n", "cannot be printed"},
		{"Benchmark" + strings.Repeat("A", 2000) + " 1 1 ns/op\n", "more than 1024 bytes"},
		{strings.Repeat("BenchmarkA 1 1 ns/op\n", 2001), "more than 2000 values"},
		{strings.Repeat("x", maxLine+1), "longer than 1 MiB"},
		{"cpu: a\x07\nBenchmarkA 1 1 ns/op\n", "cannot be printed"},
	} {
		err := (&Set{}).Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %q", c.text, err, c.want)
		}
	}
}

// This package reads the same from an output as the parser of golang.org/x/perf.
func TestAgreesWithBenchfmt(t *testing.T) {
	s := readText(t, goOutputText)
	r := benchfmt.NewReader(strings.NewReader(goOutputText), "x")
	values := map[string][]float64{}
	for r.Scan() {
		if res, ok := r.Result().(*benchfmt.Result); ok {
			if v, ok := res.Value("sec/op"); ok {
				pkg := res.GetConfig("pkg")
				name := pkg[strings.LastIndex(pkg, "/")+1:] + "." + strings.TrimSuffix(string(res.Name.Full()), "-2")
				values[name] = append(values[name], v*1e9)
			}
		}
	}
	if len(values) != 3 {
		t.Errorf("%v", values)
	}
	for name, want := range values {
		got := find(t, s, name).Sample("latency").Values
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", name, got, want)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(goOutputText))
	f.Add([]byte(`{"Action":"output","Package":"a","Output":"BenchmarkA 1 1 ns/op\n"}`))
	f.Add([]byte(criterionMessages))
	f.Add([]byte("Unit a/op better=higher assume=exact\nBenchmarkA-1 1 2 a/op 3 b\nBenchmarkA-1 1 2 b/op\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &Set{}
		err := s.Read(strings.NewReader(string(text)))
		checkReadable(t, s, err)
	})
}

// checkReadable fails unless the reader of results accepts what was read.
func checkReadable(t *testing.T, s *Set, err error) {
	t.Helper()
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("the error %q", err)
		}
		return
	}
	results := s.Results()
	if len(results) == 0 {
		return
	}
	var b bytes.Buffer
	if err := bench.EncodeRuns(&b, &bench.Run{Results: results}); err != nil {
		t.Fatal(err)
	}
	if _, err := bench.DecodeRun(&b); err != nil {
		t.Errorf("what was read is not taken: %v", err)
	}
}
