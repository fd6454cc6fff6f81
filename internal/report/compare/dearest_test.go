package compare

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/thresholds"
)

func executed(perRun float64) *bench.Executed {
	return &bench.Executed{PerRun: perRun, Instructions: 3}
}

// dearer is a comparison of a benchmark that regressed in two measures, with
// the changed lines.
func dearer(lines ...bench.Line) *Model {
	side := func(insns, size float64) *bench.Result {
		return &bench.Result{Benchmark: "filter", Program: "filter", Driver: "test_run", Samples: []bench.Sample{
			{Measure: bench.Instructions, Values: []float64{insns}},
			{Measure: bench.JitedBytes, Values: []float64{size}},
		}}
	}
	c := &bench.Comparison{
		Testbed: bench.Testbed{Mode: bench.ModeExact, Kernel: "6.12.8"},
		Pairs:   []bench.Pair{{Benchmark: "filter", Base: side(100, 100), Head: side(120, 120), Lines: lines}},
	}
	return New(Table{Comparison: c, Verdicts: thresholds.Default().Compare(c, thresholds.Options{})})
}

var dearerLines = []bench.Line{
	{Program: "filter", Function: "filter", File: "src/fw.bpf.c", Number: 41, Text: "\twhile (n--)", Base: executed(2), Head: executed(19)},
	{Program: "filter", Function: "filter", File: "src/fw.bpf.c", Number: 50, Base: executed(9), Head: nil},
	{Program: "filter", Function: "parse", Offset: 40, InFunction: 12, Text: "", Head: executed(4)},
	{Program: "filter", Function: "filter", File: "src/fw.bpf.c", Number: 44, Text: "count`<b>++;", Base: executed(1), Head: executed(3)},
	{Program: "filter", Function: "filter", File: "src/fw.bpf.c", Number: 45, Text: "return 0;", Base: executed(1), Head: executed(2)},
}

// The report names three lines that became dearer, once, below the worst of the
// measures.
func TestDearestLinesOfARegression(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, dearer(dearerLines...)); err != nil {
		t.Fatal(err)
	}
	want := `filter: instructions: regression: 100 → 120 instructions (+20, +20.0%), no increase is allowed
    src/fw.bpf.c:41  2 → 19 BPF instructions a run (+17)  while (n--)
    parse+12  0 → 4 BPF instructions a run (+4)
    src/fw.bpf.c:44  1 → 3 BPF instructions a run (+2)  count` + "`" + `<b>++;
filter: jited-bytes: regression (warning): 100 → 120 bytes (+20, +20.0%), up to 10% is allowed
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("want\n%s\nin\n%s", want, b.String())
	}
	b.Reset()
	if err := Markdown(&b, dearer(dearerLines...), 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- `src/fw.bpf.c:41`: 2 → 19 BPF instructions a run (+17): `while (n--)`\n",
		"- `parse+12`: 0 → 4 BPF instructions a run (+4)\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "<b>") || strings.Count(b.String(), "2 → 19") != 1 || strings.Count(b.String(), "| `src/fw.bpf.c:50` | 9 | 0 | -9 |") != 1 {
		t.Errorf("the source got through, or is there twice:\n%s", b.String())
	}
}

// Of several regressions the one of the dearest line is shown line by line, and lines name
// their benchmark.
func TestTheWorstOfSeveralRegressions(t *testing.T) {
	m := dearer(dearerLines[3:]...)
	c := m.Tables[0].Comparison
	worse := c.Pairs[0]
	base, head := *worse.Base, *worse.Head
	base.Benchmark, head.Benchmark = "worse", "worse"
	worse.Benchmark, worse.Base, worse.Head, worse.Lines = "worse", &base, &head, dearerLines[:3]
	c.Pairs = append(c.Pairs, worse)
	var b bytes.Buffer
	if err := Markdown(&b, New(Table{Comparison: c, Verdicts: thresholds.Default().Compare(c, thresholds.Options{})}), 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- `src/fw.bpf.c:41`: 2 → 19 BPF instructions a run (+17): `while (n--)`, in `worse`\n",
		"<summary>The worst regression, line by line</summary>\n\n`worse`, BPF instructions a run:\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
}
