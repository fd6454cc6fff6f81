package ingest

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// criterionMessages is the output of cargo criterion --message-format=json, shortened.
const criterionMessages = `{"reason":"benchmark-complete","id":"parse/ipv4/64","report_directory":"/p/target/criterion/reports/parse","iteration_count":[30,60,90],"measured_values":[124200.0,248000.0,380000.0],"unit":"ns","throughput":[{"per_iteration":64,"unit":"bytes"}],"typical":{"estimate":4155.6,"lower_bound":4100.1,"upper_bound":4200.5,"unit":"ns"},"mean":{"estimate":4165.0,"lower_bound":4147.5,"upper_bound":4181.1,"unit":"ns"},"median":{"estimate":4155.2,"lower_bound":4142.7,"upper_bound":4180.0,"unit":"ns"},"median_abs_dev":{"estimate":20.1,"lower_bound":1.0,"upper_bound":40.0,"unit":"ns"},"slope":null,"change":null}
{"reason":"benchmark-complete","id":"cycles","iteration_count":[2],"measured_values":[10],"unit":"cycles"}
{"reason":"group-complete","group_name":"parse","benchmarks":["parse/ipv4/64"],"report_directory":"/p"}
`

func TestCriterionMessages(t *testing.T) {
	s := readText(t, "\n"+criterionMessages+"   Compiling x v0.1.0\n")
	r := find(t, s, "parse/ipv4/64")
	if r.Driver != "criterion" || r.Program != "parse" || !slices.Equal(r.Sample("latency").Values, []float64{4140, 248000.0 / 60, 380000.0 / 90}) {
		t.Errorf("%+v", r)
	}
	if r := find(t, s, "cycles"); r.Sample("cycles/op").Values[0] != 5 {
		t.Errorf("%+v", r)
	}
}

func criterionFolder(prefix string) fstest.MapFS {
	return fstest.MapFS{
		prefix + "parse/ipv4/64/new/benchmark.json":  {Data: []byte(`{"group_id":"parse","function_id":"ipv4","value_str":"64","throughput":null,"full_id":"parse/ipv4/64","directory_name":"parse/ipv4/64","title":"parse/ipv4/64"}`)},
		prefix + "parse/ipv4/64/new/sample.json":     {Data: []byte(`{"sampling_mode":"Linear","iters":[10.0,20.0],"times":[1000.0,2200.0]}`)},
		prefix + "parse/ipv4/64/new/estimates.json":  {Data: []byte(`{}`)},
		prefix + "parse/ipv4/64/base/benchmark.json": {Data: []byte(`{"full_id":"old"}`)},
		prefix + "thin/new/benchmark.json":           {Data: []byte(`{"full_id":"thin"}`)},
		prefix + "thin/new/estimates.json":           {Data: []byte(`{"mean":{"point_estimate":9.0},"median":{"confidence_interval":{"confidence_level":0.95,"lower_bound":7.1,"upper_bound":7.9},"point_estimate":7.5,"standard_error":0.1}}`)},
		prefix + "report/index.html":                 {Data: []byte("<html>")},
	}
}

func TestCriterionFolder(t *testing.T) {
	for _, prefix := range []string{"", "target/criterion/"} {
		s := &Set{}
		if err := s.ReadFolder(criterionFolder(prefix)); err != nil {
			t.Fatal(err)
		}
		if v := find(t, s, "parse/ipv4/64").Sample("latency").Values; !slices.Equal(v, []float64{100, 110}) {
			t.Errorf("%v", v)
		}
		if v := find(t, s, "thin").Sample("latency").Values; !slices.Equal(v, []float64{7.5}) || len(s.Results()) != 2 {
			t.Errorf("%v", v)
		}
	}
}

func TestCriterionRefuses(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"sample.json", `{"iters":[1],"times":[]}`, "1 numbers of iterations and 0 values"},
		{"sample.json", `{"iters":[0],"times":[5]}`, "0 iterations"},
		{"sample.json", `{"iters":[1],"times":[-5]}`, "is -5"},
		{"sample.json", `{"iters":[1`, "sample.json: unexpected end"},
		{"benchmark.json", `{}`, "no name"},
		{"benchmark.json", `{"full_id":"a\u001b"}`, "cannot be printed"},
		{"benchmark.json", strings.Repeat(" ", maxLine+1), "larger than 1 MiB"},
	} {
		fsys := criterionFolder("")
		fsys["parse/ipv4/64/new/"+c.file] = &fstest.MapFile{Data: []byte(c.text)}
		if err := (&Set{}).ReadFolder(fsys); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %q", c.text, err, c.want)
		}
	}
	if err := (&Set{}).ReadFolder(fstest.MapFS{"a/b": {}}); err == nil || bench.Hint(err) == "" {
		t.Errorf("a folder without results: %v", err)
	}
	for text, want := range map[string]string{
		`{"reason":"benchmark-complete","id":"a","iteration_count":[1],"measured_values":[5]}`:   `benchmark "a" has no unit`,
		`{"reason":"benchmark-complete","id":"a","iteration_count":[1],"measured_values":["x"]}`: "no message of cargo criterion",
		`{"reason":"benchmark-complete","id":"a","iteration_count":[1],`:                         "cut off",
		`{"reason":"group-complete"}`: "no benchmark in it",
		`{}`:                          "no benchmark in it",
	} {
		if err := (&Set{}).Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzCriterionFolder(f *testing.F) {
	fsys := criterionFolder("")
	f.Add(fsys["thin/new/benchmark.json"].Data, fsys["parse/ipv4/64/new/sample.json"].Data, fsys["thin/new/estimates.json"].Data)
	f.Fuzz(func(t *testing.T, benchmark, sample, estimates []byte) {
		fsys := fstest.MapFS{"a/new/benchmark.json": {Data: benchmark}, "a/new/estimates.json": {Data: estimates}}
		if len(sample) > 0 {
			fsys["a/new/sample.json"] = &fstest.MapFile{Data: sample}
		}
		s := &Set{}
		checkReadable(t, s, s.ReadFolder(fsys))
	})
}
