package runner

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

func TestComparedLines(t *testing.T) {
	testenv.Root(t)
	base := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}\n")
	head := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci_slow, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}\n")
	for _, mode := range []bench.Mode{bench.ModeHost, bench.ModeExact} {
		c, err := Compare(context.Background(), []PairJob{{Base: base.Jobs[0], Head: head.Jobs[0]}}, Options{Budget: 1, Rounds: 2, Seed: 1, Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		checkFibonacciLines(t, c.Pairs[0].Lines)
	}
}

// checkFibonacciLines expects the lines of the loop first.
func checkFibonacciLines(t *testing.T, lines []bench.Line) {
	t.Helper()
	if len(lines) == 0 || len(lines) > bench.MaxLines {
		t.Fatalf("%d lines", len(lines))
	}
	var sum float64
	for i, l := range lines {
		sum += l.Delta()
		if l.Delta() == 0 || i > 0 && abs(l.Delta()) > abs(lines[i-1].Delta()) {
			t.Errorf("line %d is out of order: %+v", i, l)
		}
	}
	if first := lines[0]; first.Head == nil || first.Delta() < 100 || first.Number == 0 || !strings.HasSuffix(first.File, "fun_xdp.c") || first.Text == "" {
		t.Errorf("the first line is %+v, want one of the loop", first)
	}
}

func abs(v float64) float64 { return max(v, -v) }

func TestExplain(t *testing.T) {
	testenv.Root(t)
	base := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}\n")
	head := planOf(t, objects+"  - {name: a, program: fun_xdp_fibonacci_slow, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}\n")
	for _, c := range []struct {
		pair PairJob
		code bool
	}{{PairJob{Base: base.Jobs[0], Head: head.Jobs[0]}, false}, {PairJob{Base: nil, Head: head.Jobs[0]}, true}} {
		x, err := Explain(context.Background(), []PairJob{c.pair}, Options{}, c.code)
		if err != nil {
			t.Fatal(err)
		}
		e := x.Programs[0]
		if e.Error != "" || e.Head == nil || (e.Base == nil) != (c.pair.Base == nil) {
			t.Fatalf("explained %+v", e)
		}
		var perRun float64
		var instructions int
		for _, l := range e.Lines {
			if l.Head == nil {
				continue
			}
			perRun += l.Head.PerRun
			instructions += l.Head.Instructions
			if c.code != (len(l.Head.Code) > 0) || c.code && len(l.Head.Code) != l.Head.Instructions {
				t.Errorf("line %d has %d instructions and the code of %d", l.Number, l.Head.Instructions, len(l.Head.Code))
			}
			for _, code := range l.Head.Code {
				if code.Machine == nil || *code.Machine < 0 || *code.Machine > 200 {
					t.Errorf("instruction %d (%s): machine instructions %v", code.Offset, code.Text, code.Machine)
				}
			}
		}
		if abs(perRun-e.Head.PerRun) > 1e-3 || instructions != e.Head.Instructions {
			t.Errorf("the lines add up to %v of %v executed and %d of %d instructions", perRun, e.Head.PerRun, instructions, e.Head.Instructions)
		}
	}
}

func TestExplainWithoutADriver(t *testing.T) {
	testenv.Root(t)
	head := planOf(t, objects+"  - {name: a, program: profile, verify: {}}\n")
	x, err := Explain(context.Background(), []PairJob{{Head: head.Jobs[0]}}, Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := x.Programs[0]; e.Error == "" || e.Hint == "" {
		t.Errorf("%+v: it runs nothing", e)
	}
}

func TestExplainEndsWithItsContext(t *testing.T) {
	testenv.Root(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job := planOf(t, objects+"  - {name: a, program: fun_xdp_basic, test_run: {}}\n").Jobs[0]
	if e, err := Explain(ctx, []PairJob{{Head: job}}, Options{}, true); e != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("explained %v, error %v", e, err)
	}

	// What was counted before is kept.
	ctx, cancel = context.WithCancel(t.Context())
	pairs := []PairJob{{Head: job}, {Head: job}}
	e, err := Explain(ctx, pairs, Options{Progress: onRound{silent{}, cancel}}, true)
	if e == nil || len(e.Programs) != 1 || !e.Partial || !errors.Is(err, context.Canceled) {
		t.Errorf("explained %+v, error %v", e, err)
	}
}

// onRound calls do after each round.
type onRound struct {
	silent
	do func()
}

func (r onRound) Round() { r.do() }
