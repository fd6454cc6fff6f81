package folder

import (
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestALoadedRunIsTheSavedOne(t *testing.T) {
	d := newDir(t)
	e := testEntry(1)
	e.Tags = []string{"v2", "release/1 β"}
	m := must(d.Save(t.Context(), e))
	got := must(d.Load(t.Context(), m.ID))
	if !reflect.DeepEqual(got.Run, e.Run) || !reflect.DeepEqual(got.Objects, e.Objects) || !reflect.DeepEqual(got.Files, e.Files) {
		t.Errorf("loaded %+v", got)
	}
	if !reflect.DeepEqual(got.Points, e.Points) {
		t.Errorf("points %v", got.Points)
	}
	want := baseline.Meta{
		ID: m.ID, Branch: "main", Commit: e.Commit, Time: e.Run.Started, Tags: []string{"release/1 β", "v2"},
		Testbed: baseline.Key(testTestbed), Machine: "host, Linux 6.18.5, x86_64, Some CPU, 2 cores", Tool: "v1.0.0",
		Digests: m.Digests,
	}
	if !reflect.DeepEqual(m, want) || !reflect.DeepEqual(got.Meta, want) || !reflect.DeepEqual(listed(t, d, baseline.Query{}), []baseline.Meta{want}) {
		t.Errorf("meta is %+v, loaded %+v, want %+v", m, got.Meta, want)
	}
	if !strings.HasPrefix(m.ID, "20261121T115000Z-") || !baseline.IDForm.MatchString(m.ID) {
		t.Errorf("ID %s", m.ID)
	}
	wantWhole(t, d)
}

func TestSavingTwiceChangesNothing(t *testing.T) {
	d, runs := saved(t, 2)
	e := testEntry(1)
	e.Tags = []string{"again"}
	if m := must(d.Save(t.Context(), e)); m.ID != runs[1].ID || !slices.Equal(m.Tags, e.Tags) {
		t.Errorf("saved as %v", m)
	}
	if got := ids(listed(t, d, baseline.Query{})); !slices.Equal(got, []string{runs[1].ID, runs[0].ID}) {
		t.Errorf("list is %v", got)
	}
	// The shared object is stored once.
	shared := objectFile(sumOf([]byte(sharedObject)))
	if !os.SameFile(must(os.Stat(d.file(runs[0], shared))), must(os.Stat(d.file(runs[1], shared)))) {
		t.Error("the shared object is stored twice")
	}
	wantWhole(t, d)
}

func TestAStoreWithoutFolderIsEmpty(t *testing.T) {
	d := newDir(t)
	id := "20261121T114900Z-5f0c2a91"
	if runs := listed(t, d, baseline.Query{Branches: []string{"main"}}); runs != nil {
		t.Errorf("list is %v", runs)
	}
	_, loadErr := d.Load(t.Context(), id)
	_, latestErr := baseline.Latest(t.Context(), d, baseline.Query{Branches: []string{"main"}})
	for _, err := range []error{loadErr, latestErr, d.Tag(t.Context(), id, "x"), d.Untag(t.Context(), id, "x")} {
		if !errors.Is(err, baseline.ErrNotFound) {
			t.Errorf("error %v", err)
		}
	}
	wantError(t, latestErr, `find a run of branch "main"`)
	if h := must(d.History(t.Context(), baseline.Query{}, baseline.Series{Measure: "latency"})); len(h.Runs) != 0 || h.Series("xdp", "latency") != nil {
		t.Errorf("history %+v", h)
	}
	must(d.Prune(t.Context(), 1))
	wantWhole(t, d)
	if _, err := os.Stat(d.path); err == nil {
		t.Error("the folder was made")
	}
}

func TestQueries(t *testing.T) {
	d := newDir(t)
	var all []baseline.Meta
	for i := range 5 {
		e := testEntry(i)
		e.Commit = []string{"", "aaaaaaaaaa", "aaaaaaabbb", "cccccccccc", "cccccccccc"}[i]
		if i == 2 {
			e.Branch, e.Tags = "../../etc", []string{"v1"}
		}
		if i == 3 {
			e.Run.Testbed.Cores = 64
		}
		all = append(all, must(d.Save(t.Context(), e)))
	}
	for _, c := range []struct {
		q    baseline.Query
		want []int
	}{
		{baseline.Query{}, []int{4, 3, 2, 1, 0}},
		{baseline.Query{Limit: 2}, []int{4, 3}},
		{baseline.Query{Branches: []string{"main"}}, []int{4, 3, 1, 0}},
		{baseline.Query{Branches: []string{"../../etc"}}, []int{2}},
		{baseline.Query{Branches: []string{"../../etc", "main"}}, []int{4, 3, 2, 1, 0}},
		{baseline.Query{Branches: []string{"nosuch"}}, nil},
		{baseline.Query{Commit: "ccccccc"}, []int{4, 3}},
		{baseline.Query{Commit: "AAAAAAAB"}, []int{2}},
		{baseline.Query{Commit: "ddddddd"}, nil},
		{baseline.Query{Tag: "v1"}, []int{2}},
		{baseline.Query{Before: all[2].Time}, []int{1, 0}},
		{baseline.Query{Testbed: all[3].Testbed}, []int{3}},
		{baseline.Query{Testbed: baseline.Key(testTestbed), Branches: []string{"main"}, Limit: 2}, []int{4, 1}},
	} {
		var want []string
		for _, i := range c.want {
			want = append(want, all[i].ID)
		}
		if got := ids(listed(t, d, c.q)); !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", c.q, got, want)
		}
	}
	_, _, err := d.List(t.Context(), baseline.Query{Commit: "aaaaaaa"})
	if !errors.Is(err, baseline.ErrAmbiguous) || !strings.Contains(bench.Hint(err), "aaaaaaaaaa or aaaaaaabbb") {
		t.Errorf("error %v, hint %s", err, bench.Hint(err))
	}
	_, _, err = d.List(t.Context(), baseline.Query{Commit: "aaaaaa"})
	wantError(t, err, "is not a commit")
	if m := must(baseline.Latest(t.Context(), d, baseline.Query{Branches: []string{"main"}})); m.ID != all[4].ID {
		t.Errorf("latest is %v", m)
	}
}

func TestWhatCannotBeSaved(t *testing.T) {
	for want, spoil := range map[string]func(*baseline.Entry){
		"no run":                          func(e *baseline.Entry) { e.Run = nil },
		"a run of the year 1":             func(e *baseline.Entry) { e.Run.Started = time.Time{} },
		"a run of the year 10000":         func(e *baseline.Entry) { e.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		`branch "a\x1b" has`:              func(e *baseline.Entry) { e.Branch = "a\x1b" },
		`"main" is not a commit`:          func(e *baseline.Entry) { e.Commit = "main" },
		"the tag is empty":                func(e *baseline.Entry) { e.Tags = []string{""} },
		"has another SHA-256":             func(e *baseline.Entry) { e.Objects[sumOf([]byte(sharedObject))] = nil },
		"../x":                            func(e *baseline.Entry) { e.Objects["../x"] = nil },
		"is too long":                     func(e *baseline.Entry) { e.Tags = []string{strings.Repeat("β", 100)} },
		"which is not among the entry's":  func(e *baseline.Entry) { e.Objects = nil },
		`path "../x" leads out`:           func(e *baseline.Entry) { e.Files["../x"] = nil },
		`path "/x" leads out`:             func(e *baseline.Entry) { e.Files["/x"] = nil },
		"NaN":                             func(e *baseline.Entry) { e.Points["latency"]["xdp"] = math.NaN() },
		"the measure is empty":            func(e *baseline.Entry) { e.Points[""] = e.Points["latency"] },
		`benchmark "xdp" occurs twice`:    func(e *baseline.Entry) { e.Run.Results = append(e.Run.Results, e.Run.Results[0]) },
		"the branch is longer than 1024 ": func(e *baseline.Entry) { e.Branch = strings.Repeat("x", 1025) },
	} {
		d := newDir(t)
		e := testEntry(1)
		spoil(e)
		_, err := d.Save(t.Context(), e)
		wantError(t, err, want)
		if _, err := os.Stat(d.path); err == nil {
			t.Errorf("%s: something was written", want)
		}
	}
}

func TestTagsComeAndGo(t *testing.T) {
	d, runs := saved(t, 2)
	id := runs[0].ID
	ok(d.Tag(t.Context(), id, "b"))
	ok(d.Tag(t.Context(), id, "a"))
	ok(d.Tag(t.Context(), id, "a"))
	if m := listed(t, d, baseline.Query{Tag: "a"}); len(m) != 1 || !slices.Equal(m[0].Tags, []string{"a", "b"}) {
		t.Errorf("list is %v", m)
	}
	ok(d.Untag(t.Context(), id, "b"))
	if e := must(d.Load(t.Context(), id)); !slices.Equal(e.Tags, []string{"a"}) {
		t.Errorf("tags %v", e.Tags)
	}
	if err := d.Untag(t.Context(), id, "b"); !errors.Is(err, baseline.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	if err := d.Tag(t.Context(), "../"+id, "a"); !errors.Is(err, baseline.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	wantWhole(t, d)
}

func TestHistory(t *testing.T) {
	d := newDir(t)
	for i := range 4 {
		e := testEntry(i)
		if i == 2 {
			e.Points = baseline.Points{"latency": {"other": 7, "xdp": 2}}
		}
		must(d.Save(t.Context(), e))
	}
	h := must(d.History(t.Context(), baseline.Query{Branches: []string{"main"}, Limit: 3}, baseline.Series{Measure: "latency"}))
	if len(h.Runs) != 3 || len(h.Problems) != 0 {
		t.Fatalf("runs %v, problems %v", h.Runs, h.Problems)
	}
	if got := h.Series("xdp", "latency"); !slices.Equal(got, []float64{3, 2, 1}) {
		t.Errorf("xdp %v", got)
	}
	if got := h.Series("tc", "latency"); len(got) != 3 || !math.IsNaN(got[1]) {
		t.Errorf("tc %v", got)
	}
	if got := h.Values("tc", "latency"); !slices.Equal(got, []float64{-1, -1}) {
		t.Errorf("tc %v", got)
	}
	if h.Series("tc", "throughput") != nil || h.Series("none", "latency") != nil || h.Values("none", "latency") != nil {
		t.Error("values that nobody asked for")
	}
	h = must(d.History(t.Context(), baseline.Query{}, baseline.Series{Benchmark: "tc", Measure: "latency"}, baseline.Series{Benchmark: "xdp", Measure: "throughput"}))
	if len(h.Values("tc", "latency")) != 3 || h.Series("xdp", "latency") != nil || h.Series("tc", "throughput") != nil || len(h.ByName) != 1 {
		t.Errorf("%d series: just one that is asked for has values", len(h.ByName))
	}
}

func TestTestbedsWhoseNumbersMayBeCompared(t *testing.T) {
	exact := testTestbed
	exact.Mode, exact.QEMU = bench.ModeExact, "10.0.2"
	for name, c := range map[string]struct {
		of     bench.Testbed
		change func(*bench.Testbed)
		same   bool
	}{
		"mode":              {testTestbed, func(b *bench.Testbed) { b.Mode = bench.ModeKVM }, false},
		"architecture":      {testTestbed, func(b *bench.Testbed) { b.Arch = "aarch64" }, false},
		"CPU":               {testTestbed, func(b *bench.Testbed) { b.CPU = "x" }, false},
		"release":           {testTestbed, func(b *bench.Testbed) { b.Kernel = "x" }, false},
		"build":             {testTestbed, func(b *bench.Testbed) { b.KernelBuild = "x" }, false},
		"cores":             {testTestbed, func(b *bench.Testbed) { b.Cores++ }, false},
		"JIT":               {testTestbed, func(b *bench.Testbed) { b.JIT = "off" }, false},
		"hardening":         {testTestbed, func(b *bench.Testbed) { b.JITHarden = true }, false},
		"mitigations":       {testTestbed, func(b *bench.Testbed) { b.Mitigations = nil }, false},
		"hypervisor":        {testTestbed, func(b *bench.Testbed) { b.Virtual = "kvm" }, true},
		"exact release":     {exact, func(b *bench.Testbed) { b.Kernel = "x" }, false},
		"exact build":       {exact, func(b *bench.Testbed) { b.KernelBuild = "x" }, false},
		"exact CPU":         {exact, func(b *bench.Testbed) { b.CPU = "x" }, false},
		"exact QEMU":        {exact, func(b *bench.Testbed) { b.QEMU = "x" }, false},
		"exact cores":       {exact, func(b *bench.Testbed) { b.Cores++ }, true},
		"exact mitigations": {exact, func(b *bench.Testbed) { b.Mitigations = nil }, true},
	} {
		other := c.of
		c.change(&other)
		if got := baseline.Key(c.of) == baseline.Key(other); got != c.same {
			t.Errorf("%s: same is %v", name, got)
		}
	}
	empty := testTestbed
	empty.Mitigations = nil
	none := empty
	none.Mitigations = map[string]string{}
	if baseline.Key(empty) != baseline.Key(none) || len(baseline.Key(empty)) != 16 {
		t.Error("no mitigations are not none")
	}
}
