package thresholds

import (
	"fmt"
	"math"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// look is what one measurement alone shows about a timed measure.
type look int

const (
	within look = iota
	worse
	better
	unclear
)

// test is the test of one timed measure of one benchmark.
type test struct {
	pair   *bench.Pair
	rule   *Threshold
	change stat.Change
	// err is why there is no change.
	err error
	// p is the p-value after Holm's correction over tests tests.
	p     float64
	tests int
}

// suite is all timed tests in one measurement.
type suite struct {
	tests []*test
	at    map[subject]*test
}

// find returns the test of a measure of a benchmark, or nil.
func (s *suite) find(benchmark, measure string) *test {
	return s.at[subject{benchmark: benchmark, measure: measure}]
}

// test compares all timed measures that a threshold bounds, and corrects their p-values
// for the number of tests. Ignored ones do not count in that.
func (p *Policy) test(c *bench.Comparison, pairs []bench.Pair, o Options) suite {
	s := suite{at: map[subject]*test{}}
	var family []*test
	var values []float64
	j := judgement{Policy: p, comparison: c}
	for i := range pairs {
		pair := &pairs[i]
		if o.ended() {
			break
		}
		if pair.Head == nil || pair.Base == nil || pair.Head.Error != "" || pair.Identical {
			continue
		}
		for _, sampled := range pair.Head.Samples {
			m := sampled.Measure
			rule := p.rule(subjectOf(pair.Benchmark, m.Name, &c.Testbed))
			base := sample(pair.Base, m.Name)
			if rule == nil || base == nil || isCount(base, &sampled) || j.foreign() != "" {
				continue
			}
			t := &test{pair: pair, rule: rule, p: 1, tests: 1}
			t.change, t.err = compareTimed(pair, m.Name, rule.Confidence)
			s.tests = append(s.tests, t)
			s.at[subject{benchmark: pair.Benchmark, measure: m.Name}] = t
			if t.err == nil && rule.Severity != Ignore {
				family, values = append(family, t), append(values, t.change.P)
			} else {
				t.p = t.change.P
			}
		}
	}
	for i, p := range stat.Holm(values) {
		family[i].p, family[i].tests = p, len(family)
	}
	return s
}

func compareTimed(p *bench.Pair, measure string, confidence float64) (stat.Change, error) {
	if p.Paired() {
		return stat.ComparePair(p, measure, confidence)
	}
	return stat.CompareStored(p.Base, p.Head, measure, confidence)
}

// alpha returns the largest p-value that is significant.
func (t *test) alpha() float64 { return 1 - t.rule.Confidence }

// enough reports whether there are enough loads for the test to be significant, and how
// many it needs.
func (t *test) enough() (int, bool) {
	least := stat.MinLoads(t.alpha() / float64(t.tests))
	c := &t.change
	if !c.Paired {
		return least, c.Bounded()
	}
	return least, c.Bounded() && c.Banded && c.Loads >= least
}

// look interprets one measurement.
func (t *test) look() look {
	if _, ok := t.enough(); t.err != nil || !ok {
		return unclear
	}
	g := growthOf(&t.change)
	switch {
	case t.proves(g):
		return worse
	case t.proves(g.mirrored()) && t.rule.bothWays(t.change.Measure):
		return worse
	case t.proves(g.mirrored()):
		return better
	case t.coarse(g), t.mayHide(g), t.rule.bothWays(t.change.Measure) && t.mayHide(g.mirrored()):
		return unclear
	}
	return within
}

// asks returns what a verdict requires to call a growth a regression.
func (t *test) asks(g growth) stat.Detection {
	return stat.Detection{Alpha: t.alpha() / float64(t.tests), Threshold: g.limit(t.rule), Power: Power, Measurements: 2}
}

// proves reports whether a growth is significant, clears the noise with its whole
// interval, and is beyond the threshold. If the two sides were not measured side by side,
// the noise is unknown, and the whole interval must clear the threshold instead.
func (t *test) proves(g growth) bool {
	clear := t.change.Band
	if !t.change.Paired {
		clear = g.limit(t.rule)
	}
	return t.p <= t.alpha() && g.low > clear && g.beyond(t.rule)
}

// coarse reports whether the measurement could not have detected a growth of the
// threshold: its interval is wider than that, or the base differs from itself by more. A
// value within the threshold is then so by chance.
func (t *test) coarse(g growth) bool {
	limit := g.limit(t.rule)
	return limit > 0 && (g.high-g.low > limit || t.change.Band > limit)
}

// mayHide reports whether a growth beyond the threshold is possible: the center lies
// beyond it, or the interval reaches beyond and is wider than it. No measurement excludes
// every growth, so a threshold of zero stands for the least that this one would catch; a
// smaller one that is significant is not excluded either.
func (t *test) mayHide(g growth) bool {
	if g.limit(t.rule) == 0 {
		return g.high > t.catches(g) || t.notClear(g)
	}
	limit := g.limit(t.rule)
	return g.high > limit && (g.share > limit || g.high-g.low > limit)
}

// catches returns the least growth that the measurement would catch, at least the noise.
func (t *test) catches(g growth) float64 {
	least, _ := t.change.Detectable(t.asks(g))
	return max(least, t.change.Band)
}

// notClear reports whether a growth is significant, and within the noise.
func (t *test) notClear(g growth) bool {
	return t.p <= t.alpha() && g.share > 0 && g.low <= t.change.Band
}

// grew reports whether there is a growth within the threshold: it is significant, and
// clear of the noise. If the noise is unknown, grew returns false.
func (t *test) grew(g growth) bool {
	return t.change.Paired && t.p <= t.alpha() && g.low > t.change.Band && t.change.Measure.Direction != bench.UnknownDirection
}

// timed judges a timed measure. A regression needs two measurements that agree, each on
// its own; so does an improvement. A stored base cannot be measured again beside the head,
// so one measurement decides.
func (j *judgement) timed(v *Verdict) {
	first := j.first.find(v.Benchmark, v.Measure.Name)
	if first.err != nil {
		v.Outcome, v.Why = Inconclusive, first.err.Error()
		return
	}
	if v.Measure.Name == bench.Latency.Name {
		if why := belowFloor(first); why != "" {
			v.Outcome, v.Why = Inconclusive, why
			return
		}
	}
	g := growthOf(&first.change)
	v.Change, v.P, v.Tests = &first.change, first.p, first.tests
	if first.change.Paired {
		v.Detectable, _ = first.change.Detectable(first.asks(g))
		v.DetectableBy, _ = first.change.DetectableBy(first.asks(g))
	}
	v.Why = timedEvidence(first)
	switch seen := first.look(); seen {
	case worse, better:
		j.confirm(v, seen)
		j.excuse(v, g, j.Now)
		first.rule.doubtDirection(v)
	case unclear:
		v.Outcome = Inconclusive
		v.Why += ", " + first.doubt(g)
	case within:
		if first.grew(g) {
			v.Allowed = true
			v.Why += ": got worse within " + first.limitWords(g)
		}
	}
}

// confirm checks whether the second measurement agrees with the first. An unconfirmed
// speed-up is still not slower, so it passes.
func (j *judgement) confirm(v *Verdict, seen look) {
	confirmed, unconfirmed := Regression, Inconclusive
	if seen == better {
		confirmed, unconfirmed = Improvement, Pass
	}
	second := j.second.find(v.Benchmark, v.Measure.Name)
	if second != nil && second.err == nil {
		v.Second = &second.change
	}
	switch {
	case !v.Change.Paired:
		v.Outcome = confirmed
		v.Why += ", not measured side by side"
	case second == nil:
		v.Outcome = unconfirmed
		v.Why += ", not confirmed: it was not measured a second time"
	case second.err != nil:
		v.Outcome = unconfirmed
		v.Why += ", not confirmed: " + second.err.Error()
	case second.look() == seen && (second.change.Ratio > 1) == (v.Change.Ratio > 1):
		v.Outcome = confirmed
		v.Why += ", confirmed by a second measurement"
	default:
		v.Outcome = unconfirmed
		v.Why += ", not confirmed: a second measurement found " + grown(&second.change)
	}
}

// mostTimes is how many times the budget anybody would wait for.
const mostTimes = 100

// budgetFor says how much longer the measurement must be to resolve the threshold: the
// interval and the noise shrink as the square root of the loads grows.
func (t *test) budgetFor(g growth) string {
	c := &t.change
	limit, width, band := g.limit(t.rule), g.high-g.low, c.Band
	if c.NearZero() {
		limit, width, band = limit*max(abs(g.base), stat.MinNet), c.By.High-c.By.Low, c.By.Band
	}
	times := math.Ceil(math.Pow(max(width, band)/limit, 2))
	switch {
	case !c.Paired || limit <= 0 || times <= 1:
		return ""
	case times > mostTimes:
		return ": no budget would do, but counted instructions tell it (--kernel, or bpf-insns)"
	}
	flag := ""
	if t.pair.Budget > 0 {
		flag = fmt.Sprintf(" (--budget %s)", time.Duration(math.Ceil(times*t.pair.Budget))*time.Second)
	}
	return fmt.Sprintf(": about %.0f times the budget would decide%s", times, flag)
}

// doubt says why a measurement is unclear.
func (t *test) doubt(g growth) string {
	if least, ok := t.enough(); !ok && t.change.Paired {
		if t.tests > 1 {
			return fmt.Sprintf("%d loads are too few: %d tests need at least %d", t.change.Loads, t.tests, least)
		}
		return fmt.Sprintf("%d loads are too few: at least %d are needed", t.change.Loads, least)
	} else if !ok {
		return "too few " + t.pair.Head.Repeats() + " for an interval"
	}
	if t.rule.bothWays(t.change.Measure) && g.mirrored().high > g.high {
		g = g.mirrored()
	}
	switch limit := g.limit(t.rule); {
	case limit == 0 && t.notClear(g):
		return "significant but not clear of the noise"
	case limit == 0:
		return "too coarse to exclude what it would catch"
	case g.share <= limit && g.high-g.low <= limit && t.coarse(g):
		return "noisier than " + t.limitWords(g) + t.budgetFor(g)
	case g.share <= limit:
		return "too coarse for " + t.limitWords(g) + t.budgetFor(g)
	case t.p > t.alpha():
		return "beyond " + t.limitWords(g) + " but not significant"
	default:
		return "beyond " + t.limitWords(g) + " but not clear of the noise"
	}
}
