package merge

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// exactTestbed counts instructions, hostTestbed times.
func exactTestbed(kernel string) bench.Testbed {
	return bench.Testbed{Mode: bench.ModeExact, Kernel: kernel, KernelBuild: "#1", Arch: "x86_64", CPU: "QEMU", Cores: 1, QEMU: "10.0", JIT: "on"}
}

func hostTestbed(kernel string) bench.Testbed {
	return bench.Testbed{Mode: bench.ModeHost, Kernel: kernel, KernelBuild: "#1", Arch: "x86_64", CPU: "EPYC", Cores: 2, Virtual: "kvm", JIT: "on", Mitigations: map[string]string{"spectre_v2": "retpolines"}}
}

// runOf returns a run of benchmarks, in a shard if one is given.
func runOf(testbed bench.Testbed, shard, benchmarks string) *bench.Run {
	run := &bench.Run{Tool: "v1", Testbed: testbed, Started: time.Unix(1000, 0).UTC(), Elapsed: 2, Seed: 7, Loads: 8, Results: []bench.Result{}}
	if shard != "" {
		s, err := bench.ParseShard(shard)
		if err != nil {
			panic(err)
		}
		run.Shard = &s
	}
	for _, name := range strings.Fields(benchmarks) {
		run.Results = append(run.Results, bench.Result{Benchmark: name, Samples: []bench.Sample{{Measure: bench.Instructions, Values: []float64{float64(len(name))}}}})
	}
	return run
}

func comparisonOf(testbed bench.Testbed, shard, benchmarks string) *bench.Comparison {
	run := runOf(testbed, shard, benchmarks)
	c := &bench.Comparison{
		Tool: run.Tool, Testbed: testbed, Started: run.Started, Elapsed: run.Elapsed, Seed: 7, Shard: run.Shard,
		Base: bench.Side{Name: "old", Commit: "abc"}, Head: bench.Side{Name: "new"}, Pairs: []bench.Pair{},
	}
	for i := range run.Results {
		c.Pairs = append(c.Pairs, bench.Pair{Benchmark: run.Results[i].Benchmark, Base: &run.Results[i], Head: &run.Results[i]})
	}
	return c
}

// part returns a file with content, written and read.
func part(t testing.TB, name string, of any) *bench.Part {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch of := of.(type) {
	case *bench.Run:
		err = bench.EncodeRuns(&b, of)
	case []*bench.Run:
		err = bench.EncodeRuns(&b, of...)
	case *bench.Comparison:
		err = bench.EncodeComparisons(&b, of)
	case []*bench.Comparison:
		err = bench.EncodeComparisons(&b, of...)
	case string:
		b.WriteString(of)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := bench.DecodePart(name, &b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// summary returns the result of a merge: KERNEL: BENCHMARK... for each run.
func summary(r *bench.Results) string {
	var parts []string
	add := func(testbed *bench.Testbed, shard *bench.Shard, partial bool, names []string) {
		text := testbed.Kernel + ": " + strings.Join(names, " ")
		if shard != nil {
			text += " shard"
		}
		if partial {
			text += " partial"
		}
		parts = append(parts, text)
	}
	for _, run := range r.Runs {
		add(&run.Testbed, run.Shard, run.Partial, resultNames(run.Results))
	}
	for _, c := range r.Comparisons {
		add(&c.Testbed, c.Shard, c.Partial, pairNames(c.Pairs))
	}
	return strings.Join(parts, "; ")
}

func TestMerge(t *testing.T) {
	exact := exactTestbed("6.12")
	twoKernels := func(shard, benchmarks string) []*bench.Run {
		return []*bench.Run{runOf(exactTestbed("5.10"), shard, benchmarks), runOf(exact, shard, benchmarks)}
	}
	judged := func(c *bench.Comparison) string {
		var b bytes.Buffer
		if err := bench.EncodeComparisons(&b, c); err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(`"comparisons":[{`, `"outcome":"pass","comparisons":[{"outcome":"pass","verdicts":[],`).Replace(b.String())
	}
	for _, c := range []struct {
		name, want string
		files      []any
	}{
		{"one file", "6.12: a b", []any{runOf(exact, "", "a b")}},
		{"in the order of the suite", "6.12: a b c d e", []any{runOf(exact, "2/3", "b e"), runOf(exact, "3/3", "c"), runOf(exact, "1/3", "a d")}},
		{"a shard without benchmarks", "6.12: a b", []any{runOf(exact, "1/3", "a"), runOf(bench.Testbed{}, "3/3", ""), runOf(exact, "2/3", "b")}},
		{"several kernels in each", "5.10: a b c; 6.12: a b c", []any{twoKernels("1/2", "a c"), twoKernels("2/2", "b")}},
		{"a kernel in each", "6.12: a b; 5.10: a b", []any{runOf(exact, "", "a b"), runOf(exactTestbed("5.10"), "", "a b")}},
		{"benchmarks that were filtered", "6.12: b a", []any{runOf(exact, "", "b"), runOf(exact, "", "a")}},
		{"comparisons", "6.12: a b c", []any{comparisonOf(exact, "1/2", "a c"), comparisonOf(exact, "2/2", "b")}},
		{"comparisons that were judged", "6.12: a b c", []any{judged(comparisonOf(exact, "1/2", "a c")), comparisonOf(exact, "2/2", "b")}},
		{"comparisons without pairs", "6.12: a", []any{comparisonOf(bench.Testbed{}, "2/2", ""), comparisonOf(exact, "1/2", "a")}},
		{"several comparisons in each", "5.10: a; 6.12: a b", []any{[]*bench.Comparison{comparisonOf(exactTestbed("5.10"), "", "a"), comparisonOf(exact, "", "a")}, comparisonOf(exact, "", "b")}},
	} {
		var parts []*bench.Part
		for i, f := range c.files {
			parts = append(parts, part(t, fmt.Sprintf("%d.json", i+1), f))
		}
		out, _, err := Results(parts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := summary(out); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The merged document says what one invocation would have said.
func TestMergeSums(t *testing.T) {
	first, second := runOf(hostTestbed("6.12"), "1/2", "a"), runOf(hostTestbed("6.12"), "2/2", "b")
	second.Started, second.Partial, second.Loads = second.Started.Add(-time.Minute), true, 3
	out, _, err := Results([]*bench.Part{part(t, "1.json", first), part(t, "2.json", second)})
	if err != nil {
		t.Fatal(err)
	}
	if run := out.Runs[0]; run.Elapsed != 4 || !run.Partial || run.Loads != 3 || !run.Started.Equal(second.Started) || run.Seed != 7 || !reflect.DeepEqual(run.Results[1], second.Results[0]) {
		t.Errorf("%+v", run)
	}
	a, b := comparisonOf(hostTestbed("6.12"), "1/2", "a"), comparisonOf(hostTestbed("6.12"), "2/2", "b")
	a.Confirmed, b.Confirmed = a.Pairs, b.Pairs
	if out, _, err = Results([]*bench.Part{part(t, "1.json", a), part(t, "2.json", b)}); err != nil {
		t.Fatal(err)
	}
	if c := out.Comparisons[0]; c.Elapsed != 4 || strings.Join(pairNames(c.Confirmed), " ") != "a b" || c.Base != a.Base {
		t.Errorf("%+v", c)
	}
}

// However a suite is cut into shards and in whatever order they come, they make the
// comparison that was cut, so that it is judged as that would have been.
func TestMergeRestores(t *testing.T) {
	for n := 1; n < 12; n++ {
		names := ""
		for i := range n {
			names += fmt.Sprintf(" %c", 'z'-i)
		}
		whole := comparisonOf(exactTestbed("6.12"), "", names)
		for of := 1; of < 15; of++ {
			var parts []*bench.Part
			for shard := of; shard >= 1; shard-- {
				s := bench.Shard{Part: shard, Of: of}
				c := *whole
				c.Shard, c.Elapsed, c.Pairs = &s, 0, []bench.Pair{}
				for i, p := range whole.Pairs {
					if s.Has(i) {
						c.Pairs = append(c.Pairs, p)
					}
				}
				if len(c.Pairs) == 0 {
					c.Testbed = bench.Testbed{}
				}
				parts = append(parts, part(t, s.String(), &c))
			}
			out, _, err := Results(parts)
			if err != nil {
				t.Fatal(err)
			}
			got := out.Comparisons[0]
			got.Elapsed = whole.Elapsed
			if !reflect.DeepEqual(got, whole) {
				t.Fatalf("%d benchmarks in %d shards:\n%+v\n%+v", n, of, got, whole)
			}
		}
	}
}

func TestMergeMissesShards(t *testing.T) {
	exact := exactTestbed("6.12")
	for _, c := range []struct {
		want, missing string
		files         []any
	}{
		{"6.12: a partial", "shard 2/2 is in no file", []any{runOf(exact, "1/2", "a")}},
		{"6.12: b partial", "shards 1/3, 3/3 are in no file", []any{runOf(exact, "2/3", "b")}},
		{"6.12: a partial", "shards 2/9, 3/9, 4/9, 5/9, 6/9 and 3 more", []any{runOf(exact, "1/9", "a")}},
		{"6.12: a b; 5.10: a partial", "shard 2/2 of Linux 5.10", []any{runOf(exact, "1/2", "a"), runOf(exact, "2/2", "b"), runOf(exactTestbed("5.10"), "1/2", "a")}},
		{"6.12: a partial", "shard 2/2", []any{comparisonOf(exact, "1/2", "a")}},
	} {
		var parts []*bench.Part
		for i, f := range c.files {
			parts = append(parts, part(t, fmt.Sprintf("%d.json", i+1), f))
		}
		out, _, err := Results(parts)
		var missing *MissingError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.missing) {
			t.Errorf("%s: error %v", c.missing, err)
		}
		if out == nil || summary(out) != c.want {
			t.Errorf("%s: %v, want %s", c.missing, out, c.want)
		}
	}
}

// Merging parts that were merged before keeps all shards that they lacked.
func TestMergeOfPartsThatLackShards(t *testing.T) {
	for _, of := range []func(shard, benchmarks string) any{
		func(shard, benchmarks string) any { return runOf(exactTestbed("6.12"), shard, benchmarks) },
		func(shard, benchmarks string) any { return comparisonOf(exactTestbed("6.12"), shard, benchmarks) },
	} {
		var parts []*bench.Part
		for i, shards := range [][2]any{{of("2/4", "b"), of("4/4", "d")}, {of("3/3", "x"), of("2/3", "y")}, {of("4/4", "e"), of("3/4", "f")}} {
			joined, _, err := Results([]*bench.Part{part(t, "a", shards[0]), part(t, "b", shards[1])})
			if err == nil {
				t.Fatal("no shard was missed")
			}
			parts = append(parts, &bench.Part{Name: fmt.Sprint(i), Results: *joined})
		}
		out, _, err := Results(parts)
		if err != nil {
			t.Fatal(err)
		}
		var missing bench.Shards
		if out.Runs != nil {
			missing = out.Runs[0].Missing
		} else {
			missing = out.Comparisons[0].Missing
		}
		if want := (bench.Shards{{Part: 1, Of: 3}, {Part: 1, Of: 4}, {Part: 2, Of: 4}, {Part: 3, Of: 4}}); !slices.Equal(missing, want) {
			t.Errorf("missing %v, want %v", missing, want)
		}
	}
}

// Merged results are not judged as a whole, whoever judged their parts. They also tell
// later readers what they lack.
func TestMergeIsNotJudged(t *testing.T) {
	run := runOf(exactTestbed("6.12"), "1/3", "a")
	run.Thresholds, run.Results[0].Alerts = "one.yml", []bench.Alert{{Measure: "instructions", Value: 1, Severity: "fail"}}
	other := runOf(exactTestbed("6.12"), "3/3", "c")
	other.Thresholds = "other.yml"
	out, _, err := Results([]*bench.Part{part(t, "1", run), part(t, "3", other)})
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatal(err)
	}
	got := out.Runs[0]
	if got.Thresholds != "" || got.Results[0].Alerts != nil || got.Missing.Are("missing") != "shard 2/3 is missing" {
		t.Errorf("%+v", got)
	}
	again, _, err := Results([]*bench.Part{part(t, "joined", got), part(t, "more", runOf(exactTestbed("6.12"), "", "d"))})
	if err != nil || again.Runs[0].Missing.String() != "shard 2/3" || !again.Runs[0].Partial {
		t.Errorf("%+v, %v", again, err)
	}
	c := comparisonOf(exactTestbed("6.12"), "1/2", "a")
	c.Thresholds = "one.yml"
	if out, _, err = Results([]*bench.Part{part(t, "1", c)}); !errors.As(err, &missing) {
		t.Fatal(err)
	}
	if c := out.Comparisons[0]; c.Thresholds != "" || c.Missing.String() != "shard 2/2" {
		t.Errorf("%+v", c)
	}
}

// Of the kernels that parts lack, those are missing that no other has.
func TestMergeWithoutKernels(t *testing.T) {
	on := func(kernel, name string, missing ...string) *bench.Run {
		run := runOf(exactTestbed(kernel), "", name)
		run.Testbed.Asked, run.MissingKernels = kernel, missing
		return run
	}
	out, _, err := Results([]*bench.Part{
		part(t, "1", on("6.12", "a", "6.1", "5.10")), part(t, "2", on("6.12", "b", "5.10")), part(t, "3", on("6.1", "b", "5.10")),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range out.Runs {
		if !slices.Equal(run.MissingKernels, []string{"5.10"}) {
			t.Errorf("%+v", run)
		}
	}
}
