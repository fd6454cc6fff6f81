package scaffold

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/programs"
	"github.com/org/ebpf-bench-action/runner"
)

// searchedSuite has benchmarks that give programs something in each way.
const searchedSuite = `version: 1
objects: [build/*.o]
budget: 2s
benchmarks:
  # Two packets, which other benchmarks share.
  - name: basic
    program: fun_xdp_basic
    test_run: &sent
      repeat: 2
      packets:
        - {ipv4: {}, udp: {dst: 53}, size: 64}
        - {ipv4: {}, tcp: {}, size: 128}
  - {name: slow, program: fun_xdp_fibonacci_slow, parallel: true, test_run: *sent}
  - {name: sent, program: fun_xdp_fibonacci, veth: {}}
  - name: has
    program: has
    state: fresh
    maps: {flows: {file: flows.txt, reset: slice, entries: [{key: 1, value: 2}]}}
    prepare: [{program: grow, packets: [{pcap: some.pcap}]}, {program: grow}]
    test_run: {}
  - {name: three, program: fun_xdp_fizz, test_run: {packets: [{ipv4: {src: 10.0.0.0}, udp: {}}, {ipv4: {}, tcp: {}}, {ipv6: {}, udp: {}}]}}
  - {name: raw, program: run_raw_tracepoint, test_run: {context: {args: [1, 2]}}}
  - {name: syscall, program: run_syscall, test_run: {}}
`

// suiteIn writes a suite with its files below a folder, and reads it.
func suiteIn(t *testing.T, folder string) *suite.Suite {
	t.Helper()
	put := func(name string, data []byte) {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"maps.o", "runs.o"} {
		data, err := os.ReadFile("../../cmd/ebpf-bench/testdata/objects/" + name)
		if err != nil {
			t.Fatal(err)
		}
		put("build/"+name, data)
	}
	data, err := programs.FS.ReadFile("fun_xdp/fun_xdp_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	put("build/fun_xdp.o", data)
	put("flows.txt", []byte("1 1\n"))
	var pcap bytes.Buffer
	frames := (&Found{Search: &bench.Search{Programs: []bench.Searched{{Inputs: []bench.FoundInput{{Packets: []string{"02000000000202000000000108004500"}}}}}}})
	if err := frames.Pcap(&pcap); err != nil {
		t.Fatal(err)
	}
	put("some.pcap", pcap.Bytes())
	put("suite.yml", []byte(searchedSuite))
	s, err := suite.Load(suite.OS, filepath.Join(folder, "suite.yml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A suite of what was found keeps what a benchmark is besides its packets, and says what
// each input costs.
func TestFound(t *testing.T) {
	folder := t.TempDir()
	s := suiteIn(t, folder)
	source := []bench.Source{{File: "src/a.c", Line: 7}, {File: "src/a.c", Line: 9}, {File: "b.h", Line: 1}}
	packet := "02000000000202000000000108004500"
	search := &bench.Search{Seed: 3, Programs: []bench.Searched{
		{Benchmark: "slow", Object: "build/fun_xdp.o", Program: "fun_xdp_fibonacci_slow", Type: "xdp", Tried: 1234, Blocks: bench.Coverage{All: 9, Default: 2, Reached: 8}, Inputs: []bench.FoundInput{
			{Name: "default", Packets: []string{packet, packet, packet}, PerRun: 20, Retvals: []uint32{2, 2, 1}, Lines: source},
			{Name: "worst", Packets: []string{packet}, Fresh: true, PerRun: 55, Retvals: []uint32{2}, Lines: source, Dearest: &source[1]},
		}},
		{Benchmark: "has", Object: "build/maps.o", Program: "has", Type: "xdp", Tried: 5, Inputs: []bench.FoundInput{
			{Name: "cover-1", Packets: []string{packet}, Entries: []bench.FoundEntry{{Map: "flows", Key: "07000000", Value: "0900000000000000"}, {Map: "other", Key: "07", Value: "09"}}, PerRun: 5, Retvals: []uint32{2, 3}},
		}},
		{Benchmark: "sent", Object: "build/fun_xdp.o", Program: "fun_xdp_fibonacci", Type: "xdp", Error: "no"},
		{Benchmark: "raw", Object: "build/runs.o", Program: "run_raw_tracepoint", Type: "raw_tracepoint", Tried: 5, Inputs: []bench.FoundInput{{Name: "worst", Context: "0102", PerRun: 1, Retvals: []uint32{0}}}},
	}}
	added := &Suite{Objects: []string{"build/*.o"}}
	for _, name := range []string{"slow", "sent", "has", "raw"} {
		added.Programs = append(added.Programs, Program{Entry: runner.Entry{Benchmark: name, Program: name, Type: "xdp", Section: "xdp", Driver: bench.DriverTestRun}})
	}
	if err := added.Add(&Found{Searched: s, Search: search}); err != nil {
		t.Fatal(err)
	}
	golden(t, "inputs.yml", added.Text())

	if err := os.Mkdir(filepath.Join(folder, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := (&Found{s, search, filepath.Join(folder, "out")}).Text()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "found.yml", text)

	if _, err := (&Found{s, &bench.Search{Programs: search.Programs[2:3]}, folder}).Text(); !errors.Is(err, ErrNothingFound) {
		t.Errorf("of nothing: %v", err)
	}
	bundled, err := suite.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	search.Programs[0].Object = "fun_xdp/fun_xdp_bpfel.o"
	if _, err := (&Found{bundled, search, folder}).Text(); err == nil {
		t.Error("a suite names an object that is in no file")
	}
}

// The benchmarks of a suite of what was found execute what the search counted.
func TestFoundAreRun(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	folder := t.TempDir()
	s := suiteIn(t, folder)
	all, err := runner.PlanSearches(s)
	if err != nil {
		t.Fatal(err)
	}
	found, err := runner.Search(t.Context(), all.Jobs, runner.Options{}, runner.SearchOptions{Runs: 2000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	fresh, entries, contexts := 0, 0, 0
	for _, p := range found.Programs {
		if p.Error != "" {
			t.Errorf("%s: %s", p.Benchmark, p.Error)
		}
		for _, in := range p.Inputs {
			want[p.Benchmark+"/"+in.Name] = in.PerRun
			entries += len(in.Entries)
			if in.Fresh {
				fresh++
			}
			if in.Context != "" {
				contexts++
			}
		}
	}
	if want["three/default"] == 0 {
		t.Errorf("the default of three packets is not among %v", want)
	}
	if len(found.Programs) != len(s.Benchmarks) || fresh == 0 || entries == 0 || contexts == 0 {
		t.Errorf("found inputs of %d programs, %d fresh, with %d entries and %d contexts", len(found.Programs), fresh, entries, contexts)
	}
	text, err := (&Found{s, found, folder}).Text()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(folder, "found.yml")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := suite.Load(suite.OS, name)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	plan, err := runner.NewPlan(again)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var pairs []runner.PairJob
	for _, j := range plan.Jobs {
		pairs = append(pairs, runner.PairJob{Head: j})
	}
	counted, err := runner.Explain(t.Context(), pairs, runner.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(counted.Programs) != len(want) {
		t.Errorf("%d of %d inputs are benchmarks", len(counted.Programs), len(want))
	}
	for _, e := range counted.Programs {
		if e.Error != "" || e.Head.PerRun != want[e.Benchmark] || e.Head.Spread != nil {
			t.Errorf("%s: %s, %+v, want %v", e.Benchmark, e.Error, e.Head, want[e.Benchmark])
		}
	}
}
