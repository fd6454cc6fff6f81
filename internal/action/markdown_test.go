package action

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/thresholds"
)

// strangers makes results in which every free text is the result of name.
type strangers struct{ name func() string }

func (s strangers) result(instructions float64) *bench.Result {
	return &bench.Result{
		Driver: s.name(), Object: s.name(), Program: s.name(), Type: s.name(), Warnings: []string{s.name()},
		Source: &bench.Source{File: s.name(), Line: 7},
		Samples: []bench.Sample{
			{Measure: bench.Instructions, Values: []float64{instructions}}, {Measure: bench.StackBytes, Values: []float64{8}},
		},
	}
}

func (s strangers) testbed() bench.Testbed {
	return bench.Testbed{
		Mode: bench.ModeExact, Kernel: s.name(), KernelBuild: s.name(), Asked: s.name(), Arch: s.name(), CPU: s.name(), Cores: 1,
		Virtual: s.name(), QEMU: s.name(), JIT: s.name(), Mitigations: map[string]string{s.name(): s.name()},
	}
}

// comparison returns one of each outcome, and a line that grew.
func (s strangers) comparison() *bench.Comparison {
	c := &bench.Comparison{
		Tool: s.name(), Testbed: s.testbed(), Thresholds: s.name(),
		Base: bench.Side{Name: s.name(), Commit: s.name(), Branch: s.name()}, Head: bench.Side{Name: s.name(), Commit: s.name(), Branch: s.name()},
	}
	add := func(base, head float64, edit func(*bench.Pair)) {
		p := bench.Pair{Benchmark: s.name(), Base: s.result(base), Head: s.result(head)}
		p.Base.Benchmark, p.Head.Benchmark = p.Benchmark, p.Benchmark
		edit(&p)
		c.Pairs = append(c.Pairs, p)
	}
	add(100, 150, func(p *bench.Pair) {
		p.Lines = []bench.Line{
			{Function: s.name(), File: s.name(), Number: 44, Text: s.name(), Head: &bench.Executed{PerRun: 50}},
			{Function: s.name(), Offset: 3, Text: s.name(), Head: &bench.Executed{PerRun: 9}},
		}
	})
	add(100, 100, func(*bench.Pair) {})
	add(100, 90, func(*bench.Pair) {})
	add(100, 0, func(p *bench.Pair) { p.Head = nil })
	add(0, 100, func(p *bench.Pair) { p.Base = nil })
	add(100, 100, func(p *bench.Pair) {
		p.Head = &bench.Result{Benchmark: p.Benchmark, Driver: s.name(), Error: s.name(), Hint: s.name(), Log: s.name()}
	})
	return c
}

func (s strangers) run() *bench.Run {
	run := &bench.Run{Tool: s.name(), Testbed: s.testbed(), Thresholds: s.name()}
	for _, value := range []float64{100, 10} {
		r := s.result(value)
		r.Benchmark = s.name()
		run.Results = append(run.Results, *r)
	}
	run.Results = append(run.Results, bench.Result{Benchmark: s.name(), Error: s.name(), Hint: s.name(), Log: s.name()})
	return run
}

// reports returns the texts that a comment consists of, for a comparison and for a run
// alone.
func (s strangers) reports(t *testing.T) []string {
	t.Helper()
	policy, err := thresholds.Load(fstest.MapFS{"t.yml": {Data: []byte("version: 1\nthresholds: [{measure: instructions, max: 50}]\n")}}, "t.yml")
	if err != nil {
		t.Fatal(err)
	}
	step := &reporter{step: &step{Options: logTo(io.Discard), in: &inputs{}}}
	paired, err := step.findPaired(context.Background(), &judge.Judge{Policy: thresholds.Default()}, newSources(nil, "", "."), []*bench.Comparison{s.comparison()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := step.findAlone(context.Background(), &judge.Judge{Policy: policy}, []*bench.Run{s.run()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	paired.note(s.name())
	side := bench.Side{Name: s.name(), Commit: s.name(), Note: s.name(), Merged: true}
	paired.noteMarkdown("The head is " + sideMarkdown(&side, s.name()))
	alone.note(s.name())
	alone.fail(&failure{Text: s.name()})
	return []string{paired.doc.Markdown(0), alone.doc.Markdown(0)}
}

// means counts what GitHub would recognize in a document, apart from code and plain text.
func means(t *testing.T, document string) map[string]int {
	t.Helper()
	source := []byte(document)
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	counts := map[string]int{}
	var plain strings.Builder
	inCode := false
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.RawHTML:
			if tag := string(n.Segments.Value(source)); entering && (tag == "<code>" || tag == "</code>") {
				inCode = tag == "<code>"
				plain.WriteString(" ")
			} else if entering {
				counts["tag "+tag]++
			}
			return ast.WalkContinue, nil
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if entering && !inCode {
				plain.Write(n.Value(source))
			}
			return ast.WalkContinue, nil
		}
		if entering {
			counts[n.Kind().String()]++
			plain.WriteString("\n")
		}
		if n.Kind() == ast.KindHTMLBlock && entering {
			counts["block "+strings.TrimSpace(string(n.Lines().Value(source)))]++
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range reads.FindAllString(plain.String(), -1) {
		counts["reads "+m]++
	}
	return counts
}

// reads matches what GitHub recognizes in plain text: mentions, issues, commits, links,
// emoji.
var reads = regexp.MustCompile(`@\w|#\d|(?i)\bgh-\d|\b[0-9a-fA-F]{40}\b|www\.|://|:[\w+-]+:`)

// Ten thousand names that strangers could choose do not change the structure of a report:
// it is the same as with honest names.
func TestTenThousandHostileNamesInReports(t *testing.T) {
	testenv.Long(t, "renders 10,000 names")
	n := 0
	// Figures do not tell warnings apart.
	letters := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j")
	honest := strangers{func() string { n++; return "name " + letters.Replace(strconv.Itoa(n)) }}
	var want []map[string]int
	for _, document := range honest.reports(t) {
		want = append(want, means(t, document))
	}
	// Reports merge equal names, and Bencher treats more names as equal.
	seen := map[string]bool{"": true}
	var names []string
	for i, name := range slices.Concat(escapetest.Names(10_000), escapetest.Attacks) {
		if slug := bench.Slug(name); seen[slug] {
			name += fmt.Sprintf("n%d", i)
		} else {
			seen[slug] = true
		}
		names = append(names, name)
	}
	// Repeat the names, so that each reaches several places.
	for next := 0; next < 5*len(names); {
		first := next
		hostile := strangers{func() string { next++; return names[(next-1)%len(names)] }}
		for i, document := range hostile.reports(t) {
			got := means(t, document)
			if maps.Equal(got, want[i]) {
				continue
			}
			maps.DeleteFunc(got, func(what string, n int) bool { return want[i][what] == n })
			t.Fatalf("with the names from %q on report %d has %v, and not as many as one of honest names, in\n%.6000s", names[first%len(names)], i, got, document)
		}
	}
}
