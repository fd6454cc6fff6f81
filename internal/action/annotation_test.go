package action

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/github"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/thresholds"
)

// complained returns the complaint of a failing verdict on a benchmark.
func complained(benchmark, measure string, outcome thresholds.Outcome, severity thresholds.Severity, ratio float64) complaint {
	v := &thresholds.Verdict{
		Benchmark: benchmark, Measure: bench.Measure{Name: measure}, Outcome: outcome, Severity: severity,
		Why: fmt.Sprintf("%g times", ratio), Change: &stat.Change{Ratio: ratio},
	}
	return complaintOf(v)
}

// However many measures of a program are worse, its line has one annotation, which begins
// with the worst.
func TestOneAnnotationOfALine(t *testing.T) {
	filter := &bench.Result{Benchmark: "fw/64B", Program: "filter", Source: &bench.Source{File: "src/fw.bpf.c", Line: 31}}
	larger := &bench.Result{Benchmark: "fw/1500B", Program: "filter", Source: filter.Source}
	other := &bench.Result{Benchmark: "count", Program: "count", Source: &bench.Source{File: "src/fw.bpf.c", Line: 80}}
	var l remarks
	l.add(filter, "", complained("fw/64B", "xlated-bytes", thresholds.Regression, thresholds.Warn, 9))
	l.add(filter, "", complained("fw/64B", "latency", thresholds.OverBudget, thresholds.Fail, 2))
	l.add(filter, "", complained("fw/64B", "instructions", thresholds.Regression, thresholds.Fail, 1.1))
	l.add(larger, "", complained("fw/1500B", "instructions", thresholds.Regression, thresholds.Fail, 1.2))
	l.add(other, "6.1", complained("count", "jited-bytes", thresholds.Regression, thresholds.Warn, 3))
	l.add(other, "6.12", complained("count", "jited-bytes", thresholds.Regression, thresholds.Warn, 3))
	want := []github.Annotation{
		{
			Level: github.Failure, Path: "src/fw.bpf.c", Line: 31, Title: "filter: regression, in 2 benchmarks",
			Message: "fw/1500B: instructions: 1.2 times\nfw/64B: instructions: 1.1 times\nfw/64B: latency: 2 times\nfw/64B: xlated-bytes: 9 times",
		},
		{Level: github.Warning, Path: "src/fw.bpf.c", Line: 80, Title: "count: regression", Message: "Linux 6.1, 6.12: count: jited-bytes: 3 times"},
	}
	if got := l.annotations(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// If the lines that grew are known, they get the annotations, not the line where the
// program begins.
func TestAnnotationsOfTheDearestLines(t *testing.T) {
	executed := func(n float64) *bench.Executed { return &bench.Executed{PerRun: n} }
	filter := &bench.Result{Benchmark: "fw", Program: "filter", Source: &bench.Source{File: "src/fw.bpf.c", Line: 31}}
	p := &bench.Pair{Head: filter, Lines: []bench.Line{
		{Function: "filter", File: "src/fw.bpf.c", Number: 44, Head: executed(3)},
		{Function: "filter", File: "src/fw.bpf.c", Number: 41, Text: "while (n--)", Base: executed(2), Head: executed(19)},
		{Function: "parse", Offset: 40, InFunction: 12, Head: executed(2)},
		{Function: "filter", File: "src/fw.bpf.c", Number: 60, Base: executed(9), Head: executed(8)},
	}}
	var l remarks
	l.add(filter, "6.1", complained("fw", "instructions", thresholds.Regression, thresholds.Fail, 1.2)).dear(p)
	l.add(filter, "6.12", complained("fw", "instructions", thresholds.Regression, thresholds.Fail, 1.2)).dear(p)
	want := []github.Annotation{
		{
			Level: github.Failure, Path: "src/fw.bpf.c", Line: 41, Title: "fw: regression",
			Message: "Linux 6.1, 6.12: fw: instructions: 1.2 times\n" +
				"src/fw.bpf.c:41  2 → 19 BPF instructions a run (+17)  while (n--)\n" +
				"src/fw.bpf.c:44  0 → 3 BPF instructions a run (+3)\n" +
				"parse+12  0 → 2 BPF instructions a run (+2)",
		},
		{Level: github.Failure, Path: "src/fw.bpf.c", Line: 44, Title: "fw: regression", Message: "0 → 3 BPF instructions a run (+3)"},
	}
	if got := l.annotations(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestALongAnnotationIsCut(t *testing.T) {
	var l remarks
	for i := range 8_000 {
		name := fmt.Sprintf("b%d", i)
		l.add(&bench.Result{Benchmark: name, Program: "p"}, "", complained(name, "latency", thresholds.Regression, thresholds.Fail, 2))
	}
	got := l.annotations()
	if len(got) != 1 || strings.Count(got[0].Message, "\n") != maxComplaints || !strings.HasSuffix(got[0].Message, "and 7990 more, which the report has") {
		t.Errorf("%+v", got)
	}
}

// The title of a shard says that it is one, and that it is not judged.
func TestTitleOfAShard(t *testing.T) {
	for _, c := range []struct {
		title grid.Heading
		want  string
		err   error
	}{
		{grid.Heading{Mark: grid.Failed, Text: "Regression in 1 of 2 benchmarks"}, "Shard 1/2, judged when the shards are merged: regression in 1 of 2 benchmarks", nil},
		{grid.Heading{Mark: grid.Passed, Text: "No regression in 2 benchmarks"}, "Shard 1/2, judged when the shards are merged: no regression in 2 benchmarks", nil},
		{notEverything, "❌ Shard 1/2, judged when the shards are merged: not everything was measured", exit.NoMeasure(fmt.Errorf("failed"))},
	} {
		f := &finding{doc: &grid.Document{Title: c.title, Paragraphs: []string{"body"}}, err: c.err}
		if f.ofShard("1/2"); f.doc.Title.String() != c.want || !strings.HasSuffix(f.doc.Markdown(0), "\nbody\n") {
			t.Errorf("%q, want %q", f.doc.Markdown(0), c.want)
		}
	}
}
