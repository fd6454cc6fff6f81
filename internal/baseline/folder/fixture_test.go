package folder

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

func must[T any](v T, err error) T {
	ok(err)
	return v
}

func ok(err error) {
	if err != nil {
		panic(err)
	}
}

// wantError checks that err is an error and contains each of the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q lacks %q", err, word)
		}
	}
}

var testTestbed = bench.Testbed{
	Mode: bench.ModeHost, Kernel: "6.18.5", KernelBuild: "#1 SMP", Arch: "x86_64",
	CPU: "Some CPU", Cores: 2, JIT: "on", Mitigations: map[string]string{"spectre_v2": "Retpolines"},
}

var testStart = time.Date(2026, 11, 21, 11, 49, 0, 0, time.UTC)

const sharedObject = "an object that every run has"

// testEntry returns the run of minute i: a benchmark "xdp" whose latency is i, with an
// object of its own and the shared one.
func testEntry(i int) *baseline.Entry {
	own := fmt.Appendf(nil, "object of run %d", i)
	result := func(name string, object []byte) bench.Result {
		return bench.Result{
			Benchmark: name, Object: name + ".o", ObjectSHA256: sumOf(object),
			Samples: []bench.Sample{{Measure: bench.Latency, Values: []float64{float64(i)}}},
		}
	}
	return &baseline.Entry{
		Meta: baseline.Meta{Branch: "main", Commit: sumOf(own)[:40]},
		Run: &bench.Run{
			Tool: "v1.0.0", Testbed: testTestbed,
			Started: testStart.Add(time.Duration(i) * time.Minute),
			Results: []bench.Result{result("xdp", own), result("tc", []byte(sharedObject))},
		},
		Objects: map[string][]byte{sumOf(own): own, sumOf([]byte(sharedObject)): []byte(sharedObject)},
		Files:   map[string][]byte{"ebpf-bench.yml": []byte("suite"), "packets/a.pcap": []byte("packets")},
		Points:  baseline.Points{"latency": {"xdp": float64(i), "tc": -1}, "throughput": {"tc": 1e6}},
	}
}

func newDir(t testing.TB) *Dir {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "new", DefaultDir))
}

// saved returns a store of testEntry 0 to n-1, and their Meta.
func saved(t testing.TB, n int) (*Dir, []baseline.Meta) {
	t.Helper()
	d := newDir(t)
	var runs []baseline.Meta
	for i := range n {
		runs = append(runs, must(d.Save(t.Context(), testEntry(i))))
	}
	return d, runs
}

// file returns the path of a file of a run.
func (d *Dir) file(m baseline.Meta, name string) string {
	return filepath.Join(d.path, runsDir, m.ID, name)
}

// listed returns the result of List, which must have no problems.
func listed(t *testing.T, d *Dir, q baseline.Query) []baseline.Meta {
	t.Helper()
	runs, problems, err := d.List(t.Context(), q)
	if err != nil || len(problems) > 0 {
		t.Fatalf("problems %v, error %v", problems, err)
	}
	return runs
}

func ids(runs []baseline.Meta) []string {
	var all []string
	for _, m := range runs {
		all = append(all, m.ID)
	}
	return all
}

// wantWhole checks that nothing is wrong with a store.
func wantWhole(t *testing.T, d *Dir) {
	t.Helper()
	problems, err := d.Verify(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("problems %v, error %v", problems, err)
	}
}

// exported returns an export of all runs in a store.
func exported(t testing.TB, d *Dir) []byte {
	t.Helper()
	runs, _, err := d.List(t.Context(), baseline.Query{})
	ok(err)
	var out bytes.Buffer
	ok(d.Export(t.Context(), &out, ids(runs)...))
	return out.Bytes()
}
