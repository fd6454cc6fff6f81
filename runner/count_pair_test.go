package runner

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

func resultWith(m bench.Measure, values ...float64) *bench.Result {
	return &bench.Result{Samples: []bench.Sample{{Measure: m, Values: values}}}
}

func TestCountsAreApart(t *testing.T) {
	results := func(values ...float64) (all []*bench.Result) {
		for _, v := range values {
			all = append(all, resultWith(bench.Instructions, v-1, v, v+9))
		}
		return all
	}
	for _, c := range []struct {
		bases, heads []*bench.Result
		want         bool
	}{
		{results(100), results(101), true},
		{results(100, 101), results(102, 103), true},
		{results(102, 103), results(100, 101), true},
		{results(100, 102), results(101, 103), false},
		{results(100, 101), results(101, 102), false},
		{results(100), results(100), false},
		{results(100), []*bench.Result{resultWith(bench.BPFInsns, 7)}, false},
		{[]*bench.Result{resultWith(bench.InstructionsPath, 7)}, []*bench.Result{resultWith(bench.InstructionsPath, 8)}, true},
		{[]*bench.Result{resultWith(bench.XlatedBytes, 7)}, []*bench.Result{resultWith(bench.XlatedBytes, 8)}, false},
	} {
		if got := apart(c.bases, c.heads); got != c.want {
			t.Errorf("%v, %v: %t, want %t", c.bases[0].Samples, c.heads[0].Samples, got, c.want)
		}
	}
	all := results(5, 4, 6)
	together(all)
	if got := all[0].Samples[0].Values; !slices.Equal(got, []float64{5, 4, 6}) {
		t.Errorf("together they are %v", got)
	}
}

func TestCountAgain(t *testing.T) {
	failed := errors.New("interrupted")
	for _, c := range []struct {
		name        string
		bases       []float64 // the first is counted already
		heads       []float64
		stop        error
		refused     bool
		wantBase    []float64
		wantErr     error
		wantFlipped []bool
	}{
		{name: "equal", bases: []float64{5, 5}, heads: []float64{5, 5}, wantBase: []float64{5}},
		{name: "overlap", bases: []float64{5, 7, 5}, heads: []float64{6, 6, 6}, wantBase: []float64{5, 7}, wantFlipped: []bool{true}},
		{name: "apart", bases: slices.Repeat([]float64{5}, 20), heads: slices.Repeat([]float64{6}, 20),
			wantBase: slices.Repeat([]float64{5}, mostCounts), wantFlipped: []bool{true, false, true, false, true, false, true}},
		{name: "interrupted", bases: []float64{5, 7}, heads: []float64{6, 6}, stop: failed, wantBase: []float64{5}, wantErr: failed, wantFlipped: []bool{true}},
		{name: "refused", bases: []float64{5, 7}, heads: []float64{6, 6}, refused: true, wantBase: []float64{5}, wantFlipped: []bool{true}},
	} {
		base, head := resultWith(bench.BPFInsns, c.bases[0]), resultWith(bench.BPFInsns, c.heads[0])
		var flipped []bool
		err := countAgain(base, head, func(headFirst bool) (*bench.Result, *bench.Result, error) {
			flipped = append(flipped, headFirst)
			b, h := resultWith(bench.BPFInsns, c.bases[len(flipped)]), resultWith(bench.BPFInsns, c.heads[len(flipped)])
			if c.refused {
				h.Error = "refused"
			}
			return b, h, c.stop
		})
		n := len(c.wantBase)
		if got := base.Samples[0].Values; !slices.Equal(got, c.wantBase) || !slices.Equal(head.Samples[0].Values, c.heads[:n]) {
			t.Errorf("%s: base %v, head %v, want %v, %v", c.name, got, head.Samples[0].Values, c.wantBase, c.heads[:n])
		}
		if !errors.Is(err, c.wantErr) || !slices.Equal(flipped, c.wantFlipped) {
			t.Errorf("%s: %v, the head first %v", c.name, err, flipped)
		}
	}
}

// Each of ten bits of chance decides on instructions of both sides: 511.5 more on average.
func TestPairInsnsByChance(t *testing.T) {
	testenv.Root(t)
	program := func(always int) *Job {
		nothing := asm.Mov.Imm(asm.R0, 1)
		insns := asm.Instructions{asm.FnGetPrandomU32.Call(), asm.Mov.Reg(asm.R1, asm.R0)}
		insns = append(insns, slices.Repeat(asm.Instructions{nothing}, always+1)...)
		for bit := range 10 {
			next := fmt.Sprintf("after%d", bit)
			insns = append(insns, asm.JSet.Imm(asm.R1, 1<<bit, next))
			insns = append(insns, slices.Repeat(asm.Instructions{nothing}, 1<<bit)...)
			insns = append(insns, nothing.WithSymbol(next))
		}
		return plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", append(insns, asm.Return()))
	}
	count := func(base, head *Job) (b, h []float64) {
		p := newPair(PairJob{Base: base, Head: head}, &Options{}, rand.New(rand.NewPCG(1, 2)))
		onThread(t, func(env *driver.Environment) {
			p.fit(t.Context(), env)
		})
		if p.failed() {
			t.Fatal(p.base.err, p.head.err)
		}
		return p.base.insns[0].Values, p.head.insns[0].Values
	}
	const mean, far = 2 + 1 + 10*2 + 511.5 + 1, 150 // 8 deviations of a mean of 256 runs
	b, h := count(program(0), program(400))
	if !stat.Apart(b, h) || slices.Max(h) > mean+400+far {
		t.Errorf("400 more instructions: base %v, head %v", b, h)
	}
	if b, h = count(program(0), program(0)); len(b) < 2 || len(b) != len(h) || slices.Min(b) < mean-far || slices.Max(b) > mean+far {
		t.Errorf("compared with itself: base %v, head %v, whose true mean is %v", b, h, mean)
	}
}

// As many counts as are made at most suffice for a verdict, and one fewer do not.
func TestEnoughCounts(t *testing.T) {
	side := func(n int, from float64) (values []float64) {
		for i := range n {
			values = append(values, from+float64(i))
		}
		return values
	}
	if !stat.Apart(side(mostCounts, 100), side(mostCounts, 200)) || !stat.Apart(side(mostCounts, 200), side(mostCounts, 100)) {
		t.Errorf("%d counts of each side say nothing", mostCounts)
	}
	if stat.Apart(side(mostCounts-1, 100), side(mostCounts-1, 200)) {
		t.Errorf("%d counts of each side would be enough", mostCounts-1)
	}
	if stat.Apart(side(mostCounts, 100), side(mostCounts, 107)) {
		t.Error("counts that overlap are apart")
	}
}

// What an event costs on its whole path may change by what the program does, and by other
// amounts if the kernel does less or more, or by chance.
func TestPathFollows(t *testing.T) {
	result := func(run, path float64) *bench.Result {
		r := resultWith(bench.Instructions, run)
		r.Samples = append(r.Samples, bench.Sample{Measure: bench.InstructionsPath, Values: []float64{path}})
		return r
	}
	for _, c := range []struct {
		base, head *bench.Result
		want       bool
	}{
		{result(100, 300), result(110, 310), true},
		{result(100, 300), result(110, 300), true},
		{result(100, 300), result(100, 301), false},
		{result(100, 300), result(110, 290), false},
		{resultWith(bench.Instructions, 100), resultWith(bench.Instructions, 110), true},
	} {
		if got := pathFollows(c.base, c.head); got != c.want {
			t.Errorf("%v, %v: %t, want %t", c.base.Samples, c.head.Samples, got, c.want)
		}
	}
}

// What happens once in a slice is the same share of both sides.
func TestSidesAreCountedInSlicesOfOneSize(t *testing.T) {
	testenv.Root(t)
	program := func(rounds int32) *Job {
		return plantest.Made(t, "test_run: {packets: [{ipv4: {}, udp: {}}]}", asm.Instructions{
			asm.Mov.Imm(asm.R1, rounds),
			asm.Sub.Imm(asm.R1, 1).WithSymbol("again"),
			asm.JNE.Imm(asm.R1, 0, "again"),
			asm.Mov.Imm(asm.R0, 1), asm.Return(),
		})
	}
	light, heavy := program(1), program(30_000)
	for _, job := range []PairJob{{Base: light, Head: heavy}, {Base: heavy, Head: light}} {
		onThread(t, func(env *driver.Environment) {
			p, err := countPair(t.Context(), env, job, &Options{Mode: bench.ModeExact, Rounds: exactRounds, Progress: silent{}})
			if err != nil || p.Base.Error != "" || p.Head.Error != "" {
				t.Fatal(err, p.Base.Error, p.Head.Error)
			}
			if base, head := p.Base.Rounds.RunCnt[0], p.Head.Rounds.RunCnt[0]; base != head || base >= exactRuns {
				t.Errorf("%d runs in a slice of the base, %d of the head", base, head)
			}
		})
	}
}
