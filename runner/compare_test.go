package runner

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// medianGrowth returns the median over loads of the median over rounds of how
// much more a costs than b, as a share of b's raw cost.
func medianGrowth(a, b *bench.Result) (growth float64, loads int) {
	byLoad := map[int][]float64{}
	for i, load := range a.Rounds.Load {
		byLoad[load] = append(byLoad[load], perRun(&a.Rounds, i)/perRun(&b.Rounds, i)-1)
	}
	var medians []float64
	for _, values := range byLoad {
		slices.Sort(values)
		medians = append(medians, values[len(values)/2])
	}
	slices.Sort(medians)
	return medians[len(medians)/2], len(medians)
}

func TestCompareMeasuresPairs(t *testing.T) {
	testenv.Plain(t)
	testenv.Host(t, "a clock that tells time")
	testenv.Root(t)
	base := planOf(t, objects+`
  - {name: same, program: fun_xdp_fibonacci, test_run: {}}
  - {name: slower, program: fun_xdp_fibonacci, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}
  - {name: veth, program: fun_xdp_fibonacci, veth: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}
  - {name: profile, program: profile, perf_event: {}}
  - {name: loaded, program: profile, verify: {}}
  - {name: removed, program: fun_xdp_basic, test_run: {}}
`)
	head := planOf(t, objects+`
  - {name: same, program: fun_xdp_fibonacci, test_run: {}}
  - {name: slower, program: fun_xdp_fibonacci_slow, test_run: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}
  - {name: veth, program: fun_xdp_fibonacci_slow, veth: {packets: [{ipv4: {src: 10.0.0.252}, udp: {}}]}}
  - {name: profile, program: profile, perf_event: {}}
  - {name: loaded, program: profile, verify: {}}
  - {name: added, program: fun_xdp_fizz, test_run: {}}
`)
	var jobs []PairJob
	for i, j := range head.Jobs[:5] {
		jobs = append(jobs, PairJob{Base: base.Jobs[i], Head: j})
	}
	jobs = append(jobs, PairJob{Base: nil, Head: head.Jobs[5]}, PairJob{Base: base.Jobs[5], Head: nil})
	identical := planOf(t, objects+`
  - {name: identical, program: fun_xdp_fibonacci, test_run: {}}
  - {name: identical loaded, program: profile, verify: {}}
`)
	for _, j := range identical.Jobs {
		jobs = append(jobs, PairJob{Base: j, Head: j, Once: true})
	}
	c, err := Compare(context.Background(), jobs, Options{Budget: time.Second, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	pairs := map[string]*bench.Pair{}
	for i := range c.Pairs {
		pairs[c.Pairs[i].Benchmark] = &c.Pairs[i]
	}
	for _, name := range []string{"same", "slower", "veth", "profile"} {
		p := pairs[name]
		if !p.Paired() || p.Base.Error+p.Head.Error+p.Again.Error != "" {
			t.Fatalf("%s: %q, %q, %q", name, p.Base.Error, p.Head.Error, p.Again.Error)
		}
		if a, b, c := len(p.Base.Rounds.RunCnt), len(p.Head.Rounds.RunCnt), len(p.Again.Rounds.RunCnt); a != b || b != c || len(p.Head.Floor.RunCnt) != a {
			t.Errorf("%s: %d, %d and %d rounds", name, a, b, c)
		}
		growth, loads := medianGrowth(p.Head, p.Base)
		noise, _ := medianGrowth(p.Again, p.Base)
		t.Logf("%s: %+.2f%% in %d loads of %d rounds, again %+.2f%%", name, 100*growth, loads, len(p.Base.Rounds.RunCnt)/loads, 100*noise)
		if loads < minPairLoads {
			t.Errorf("%s: %d loads", name, loads)
		}
		if name == "profile" {
			continue // what interrupts a program decides what its run costs
		}
		if slow := name != "same"; slow != (growth > 0.2) || math.Abs(noise) > 0.1 {
			t.Errorf("%s: head is %+.1f%%, the base again %+.1f%%", name, 100*growth, 100*noise)
		}
	}
	if p := pairs["loaded"]; p.Base.Sample(bench.VerifiedInsns.Name) == nil || p.Head.Sample(bench.VerifiedInsns.Name) == nil || p.Paired() {
		t.Errorf("loaded: %+v", p)
	}
	for name, measure := range map[string]bench.Measure{"identical": bench.Latency, "identical loaded": bench.VerifiedInsns} {
		p := pairs[name]
		if s := p.Head.Sample(measure.Name); !p.Identical || p.Again != nil || s == nil || !slices.Equal(s.Values, p.Base.Sample(measure.Name).Values) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := pairs["removed"]; p.Head != nil || p.Base == nil || p.Base.Sample(bench.XlatedBytes.Name) == nil {
		t.Errorf("removed: %+v", p)
	}
	if p := pairs["added"]; p.Base != nil || p.Head == nil {
		t.Errorf("added: %+v", p)
	}
}

// endsAfter is a context that ends when it was asked a number of times whether it has.
type endsAfter struct {
	context.Context
	times int
}

func (c *endsAfter) Err() error {
	if c.times--; c.times < 0 {
		return context.Canceled
	}
	return nil
}

// A comparison that is interrupted has both sides of a benchmark, or neither.
func TestCompareInterrupted(t *testing.T) {
	testenv.Long(t, "compares some dozens of times")
	testenv.Root(t)
	p := planOf(t, objects+"\n  - {name: same, program: fun_xdp_fibonacci, test_run: {}}\n")
	whole := false
	for times := 0; !whole; times += 1 + times/4 {
		ctx := &endsAfter{t.Context(), times}
		c, err := Compare(ctx, []PairJob{{Base: p.Jobs[0], Head: p.Jobs[0]}}, Options{Budget: 10 * time.Millisecond, Seed: 1})
		if err != nil {
			if errors.Is(err, context.Canceled) {
				continue
			}
			t.Fatal(err)
		}
		if whole = ctx.times >= 0; whole && len(c.Pairs) != 1 {
			t.Errorf("%d pairs", len(c.Pairs))
		}
		for i := range c.Pairs {
			base, head := c.Pairs[i].Base, c.Pairs[i].Head
			for _, m := range []string{bench.Latency.Name, bench.BPFInsns.Name} {
				if b, h := base.Sample(m), head.Sample(m); (b == nil || len(b.Values) == 0) != (h == nil || len(h.Values) == 0) {
					t.Errorf("after %d questions %s is %+v of the base and %+v of the head", times, m, b, h)
				}
			}
		}
	}
}
