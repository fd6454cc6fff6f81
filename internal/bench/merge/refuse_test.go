package merge

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestMergeRefuses(t *testing.T) {
	changed := func(testbed bench.Testbed, change func(*bench.Testbed)) bench.Testbed {
		change(&testbed)
		return testbed
	}
	host, exact := hostTestbed("6.12"), exactTestbed("6.12")
	tool := runOf(exact, "2/2", "b")
	tool.Tool = "v2"
	base, head, stored := comparisonOf(exact, "2/2", "b"), comparisonOf(exact, "2/2", "b"), comparisonOf(exact, "2/2", "b")
	base.Base.Commit, head.Head.Name, stored.BaseTestbed = "def", "newer", &exact
	for _, c := range []struct {
		want string
		a, b any
	}{
		{"one has results of ebpf-bench run, and the other of ebpf-bench compare", runOf(exact, "1/2", "a"), comparisonOf(exact, "2/2", "b")},
		{`different versions of ebpf-bench: "v1" and "v2"`, runOf(exact, "1/2", "a"), tool},
		{"one is a shard (1/2), and the other is not", runOf(exact, "1/2", "a"), runOf(exact, "", "b")},
		{"shards of different numbers: 1/2 and 2/3", runOf(exact, "1/2", "a"), runOf(exact, "2/3", "b")},
		{"both have shard 1/2 on Linux 6.12", runOf(exact, "1/2", "a"), runOf(exact, "1/2", "b")},
		{`both have benchmark "a" on Linux 6.12`, runOf(exact, "1/2", "a"), runOf(exact, "2/2", "a")},
		{`mode "exact" and "host"`, runOf(exact, "1/2", "a"), runOf(host, "2/2", "b")},
		{`build of the kernel "#1" and "#2"`, runOf(exact, "1/2", "a"), runOf(changed(exact, func(t *bench.Testbed) { t.KernelBuild = "#2" }), "2/2", "b")},
		{`QEMU "10.0" and "9.2"`, runOf(exact, "1/2", "a"), runOf(changed(exact, func(t *bench.Testbed) { t.QEMU = "9.2" }), "2/2", "b")},
		{`CPU "EPYC" and "Xeon"`, runOf(host, "1/2", "a"), runOf(changed(host, func(t *bench.Testbed) { t.CPU = "Xeon" }), "2/2", "b")},
		{`number of cores "2" and "4"`, runOf(host, "1/2", "a"), runOf(changed(host, func(t *bench.Testbed) { t.Cores = 4 }), "2/2", "b")},
		{"mitigations of the CPU", runOf(host, "1/2", "a"), runOf(changed(host, func(t *bench.Testbed) { t.Mitigations = nil }), "2/2", "b")},
		{`different bases: "old" of commit "abc" and "old" of commit "def"`, comparisonOf(exact, "1/2", "a"), base},
		{`different heads: "new" and "newer"`, comparisonOf(exact, "1/2", "a"), head},
		{"one was measured beside its head, the other is stored", comparisonOf(exact, "1/2", "a"), stored},
	} {
		_, _, err := Results([]*bench.Part{part(t, "a.json", c.a), part(t, "b.json", c.b)})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "a.json and b.json cannot be merged: ") {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	// The host of an emulated machine does not affect its counts.
	other := changed(exact, func(t *bench.Testbed) { t.Cores, t.Virtual = 8, "kvm" })
	if _, _, err := Results([]*bench.Part{part(t, "a.json", runOf(exact, "1/2", "a")), part(t, "b.json", runOf(other, "2/2", "b"))}); err != nil {
		t.Error(err)
	}
	if _, _, err := Results([]*bench.Part{part(t, "a.json", runOf(bench.Testbed{}, "1/1", ""))}); err == nil || !strings.Contains(err.Error(), "no file has a benchmark") {
		t.Errorf("no benchmarks: %v", err)
	}
	if _, _, err := Results(nil); err == nil {
		t.Error("nothing was merged")
	}
}

func TestDecodePartRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "read f.json: decode results: the document ends before it is complete"},
		{"[]", "a value is a list, not an object"},
		{`{}`, "no version"},
		{`{"version":1,"results":[]}`, "version 1 is not known"},
		{`{"version":2,"runs":[{"results":[]}]}`, "without results"},
		{`{"version":2,"runs":[{"shard":"3/2","results":[]}]}`, "no part 3 of 2"},
		{`{"version":2,"outcome":"pass","comparisons":[]}`, "no results in it"},
		{`{"version":2,"outcome":"pass","comparisons":[{}]}`, "no pairs"},
		{`{"version":2,"explanations":[{"programs":[]}]}`, "which is not merged"},
		{`{"version":2,"runs":[{"shard":"1/2","results":[]}],"comparisons":[{"shard":"1/2","pairs":[]}]}`, "results of several kinds"},
	} {
		if _, err := bench.DecodePart("f.json", strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.in, err, c.want)
		}
	}
}

// Whatever two files contain, merging them does not panic, and the result can be read
// again.
func FuzzMerge(f *testing.F) {
	for _, of := range []any{
		runOf(exactTestbed("6.12"), "1/2", "a c"), runOf(exactTestbed("6.12"), "2/2", "b"), runOf(bench.Testbed{}, "2/2", ""),
		[]*bench.Run{runOf(exactTestbed("5.10"), "", "a"), runOf(exactTestbed("6.12"), "", "a")},
		comparisonOf(exactTestbed("6.12"), "1/2", "a"), comparisonOf(bench.Testbed{}, "2/2", ""),
	} {
		var b bytes.Buffer
		switch of := of.(type) {
		case *bench.Run:
			_ = bench.EncodeRuns(&b, of)
		case []*bench.Run:
			_ = bench.EncodeRuns(&b, of...)
		case *bench.Comparison:
			_ = bench.EncodeComparisons(&b, of)
		}
		f.Add(b.Bytes(), b.Bytes())
		f.Add(b.Bytes(), []byte(`{"version":2,"outcome":"pass","comparisons":[{"shard":"2/2","pairs":[]}]}`))
		f.Add([]byte(strings.ReplaceAll(b.String(), "1/2", "2/2")), b.Bytes())
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var parts []*bench.Part
		for i, text := range [][]byte{a, b} {
			p, err := bench.DecodePart(fmt.Sprint(i), bytes.NewReader(text))
			if err != nil {
				return
			}
			parts = append(parts, p)
		}
		out, _, err := Results(parts)
		var missing *MissingError
		if err != nil && !errors.As(err, &missing) {
			return
		}
		var merged bytes.Buffer
		if out.Runs != nil {
			err = bench.EncodeRuns(&merged, out.Runs...)
		} else {
			err = bench.EncodeComparisons(&merged, out.Comparisons...)
		}
		if err != nil {
			t.Fatal(err)
		}
		back, err := bench.DecodePart("merged", &merged)
		if err != nil {
			t.Fatalf("what was merged cannot be read: %v", err)
		}
		if !slices.Equal(strings.Fields(summary(out)), strings.Fields(summary(&back.Results))) {
			t.Errorf("%s became %s", summary(out), summary(&back.Results))
		}
	})
}
