package thresholds

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// look is what the loads measured so far show about a timed measure.
type look int

const (
	within look = iota
	worse
	better
	unclear
)

// test is the test of one timed measure of one benchmark.
type test struct {
	pair *bench.Pair
	rule *Threshold
	// change is that of all loads, halves those of the first and of the second measurement
	// alone, if there was a second one.
	change stat.Change
	halves []stat.Change
	// err is why there is no change, unconfirmed why there is no second measurement.
	err, unconfirmed error
	// p is the p-value after Holm's correction over tests tests.
	p     float64
	tests int
}

// suite is all timed tests of a comparison.
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
func (p *Policy) test(c *bench.Comparison, o Options) suite {
	s := suite{at: map[subject]*test{}}
	var family []*test
	var values []float64
	j := judgement{Policy: p, comparison: c}
	seconds := map[string]*bench.Pair{}
	for i := range c.Confirmed {
		seconds[c.Confirmed[i].Benchmark] = &c.Confirmed[i]
	}
	for i := range c.Pairs {
		pair := &c.Pairs[i]
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
			t.compare(m.Name, seconds[pair.Benchmark])
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

// compare compares a measure in the first measurement and in the second, if there is one.
func (t *test) compare(measure string, second *bench.Pair) {
	confidence := t.rule.Confidence
	if !t.pair.Paired() {
		t.change, t.err = stat.CompareStored(t.pair.Base, t.pair.Head, measure, confidence)
		return
	}
	if t.change, t.err = stat.ComparePair(t.pair, measure, confidence); t.err != nil {
		return
	}
	if second == nil {
		t.unconfirmed = errors.New("it was not measured a second time")
		return
	}
	again, err := stat.ComparePair(second, measure, confidence)
	if err != nil {
		t.unconfirmed = err
		return
	}
	all, err := stat.ComparePairs([]*bench.Pair{t.pair, second}, measure, confidence)
	if err != nil {
		t.unconfirmed = err
		return
	}
	t.change, t.halves = all, []stat.Change{t.change, again}
}

// agree reports whether both measurements show the change.
func (t *test) agree() bool {
	return !slices.ContainsFunc(t.halves, func(half stat.Change) bool { return !half.Agrees(&t.change) })
}

// alpha returns the largest p-value that is significant.
func (t *test) alpha() float64 { return 1 - t.rule.Confidence }

// certain is the part of alpha that the loads of both measurements must reach for a verdict.
// Comparing a program with itself a thousand times should raise no alarm at all.
const certain = 0.02

// deciding returns the largest p-value at which a change is called one.
func (t *test) deciding() float64 {
	if len(t.halves) > 0 {
		return certain * t.alpha()
	}
	return t.alpha()
}

// enough reports whether there are enough loads for the test to be significant, and how
// many it needs.
func (t *test) enough() (int, bool) {
	least := stat.MinLoads(t.deciding() / float64(t.tests))
	c := &t.change
	if !c.Paired {
		return least, c.Bounded()
	}
	return least, c.Bounded() && c.Banded && c.Loads >= least
}

// contradicted reports whether the intervals of the two measurements have nothing in common.
func (t *test) contradicted() bool {
	return len(t.halves) > 0 && (t.halves[0].Low > t.halves[1].High || t.halves[1].Low > t.halves[0].High)
}

// found names the changes that the two measurements found.
func (t *test) found() string {
	return fmt.Sprintf("one measurement found %s, a second one %s", grown(&t.halves[0]), grown(&t.halves[1]))
}

// look interprets all loads.
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
	case t.contradicted(), t.coarse(g), t.mayHide(g), t.rule.bothWays(t.change.Measure) && t.mayHide(g.mirrored()):
		return unclear
	}
	return within
}

// asks returns what a verdict requires to call a growth a regression.
func (t *test) asks(g growth) stat.Detection {
	return stat.Detection{Alpha: certain * t.alpha() / float64(t.tests), Threshold: g.limit(t.rule), Power: Power, Again: len(t.halves) == 0}
}

// proves reports whether a growth is significant, clears the noise with its whole
// interval, and is beyond the threshold. If the two sides were not measured side by side,
// the noise is unknown, and the whole interval must clear the threshold instead.
func (t *test) proves(g growth) bool {
	clear := t.change.Band
	if !t.change.Paired {
		clear = g.limit(t.rule)
	}
	return t.p <= t.deciding() && g.low > clear && g.beyond(t.rule)
}

// coarse reports whether the measurement could not have detected a growth of the
// threshold: its interval is wider than that, or the base differs from itself by more. A
// value within the threshold is then so by chance.
func (t *test) coarse(g growth) bool {
	limit := g.limit(t.rule)
	return limit > 0 && (g.high-g.low > limit || t.change.Band > limit)
}

// mostHidden and mostHiddenNS are the most that a comparison may overlook where no growth is
// allowed, as a share of the base and in nanoseconds: the larger of the two.
const (
	mostHidden   = 0.1
	mostHiddenNS = 5
)

// hidden returns what a comparison would catch where no growth is allowed, as a multiple of
// the most that it may overlook.
func (t *test) hidden(g growth) float64 {
	c := &t.change
	if !c.Paired || g.limit(t.rule) > 0 {
		return 0
	}
	if by, ok := c.DetectableBy(t.asks(g)); ok && c.Measure.Unit == bench.Latency.Unit {
		return max(by, c.By.Band) / max(mostHidden*math.Abs(g.base), mostHiddenNS)
	}
	return t.catches(g) / mostHidden
}

// mayHide reports whether a growth beyond the threshold is possible: the center lies
// beyond it, or the interval reaches beyond and is wider than it. No measurement excludes
// every growth, so a threshold of zero stands for the least that this one would catch; a
// smaller one that is significant is not excluded either.
func (t *test) mayHide(g growth) bool {
	if g.limit(t.rule) == 0 {
		return g.high > t.catches(g) || t.notClear(g) || t.hidden(g) > 1
	}
	limit := g.limit(t.rule)
	return g.high > limit && (g.share > limit || g.high-g.low > limit)
}

// catches returns the least growth that the measurement would catch, at least the noise.
func (t *test) catches(g growth) float64 {
	least, _ := t.change.Detectable(t.asks(g))
	return max(least, t.change.Band)
}

// notClear reports whether a growth is significant, although it may not be called one.
func (t *test) notClear(g growth) bool { return t.p <= t.alpha() && g.share > 0 }

// grew reports whether there is a growth within the threshold: it is significant, and
// clear of the noise. If the noise is unknown, grew returns false.
func (t *test) grew(g growth) bool {
	return t.change.Paired && t.p <= t.alpha() && g.low > t.change.Band && t.change.Measure.Direction != bench.UnknownDirection
}

// timed judges a timed measure. A regression needs two measurements: it is one by the loads
// of both, and each alone agrees. So does an improvement. A stored base cannot be measured
// again beside the head, so one measurement decides.
func (j *judgement) timed(v *Verdict) {
	t := j.tests.find(v.Benchmark, v.Measure.Name)
	if t.err != nil {
		v.Outcome, v.Why = Inconclusive, t.err.Error()
		return
	}
	if v.Measure.Name == bench.Latency.Name {
		if why := belowFloor(t); why != "" {
			v.Outcome, v.Why = Inconclusive, why
			return
		}
	}
	g := growthOf(&t.change)
	v.Change, v.P, v.Tests = &t.change, t.p, t.tests
	if len(t.halves) > 0 {
		v.Second = &t.halves[1]
	}
	if t.change.Paired {
		v.Detectable, _ = t.change.Detectable(t.asks(g))
		v.DetectableBy, _ = t.change.DetectableBy(t.asks(g))
	}
	v.Why = timedEvidence(t)
	switch seen := t.look(); seen {
	case worse, better:
		t.confirm(v, seen)
		j.excuse(v, g, j.Now)
		t.rule.doubtDirection(v)
	case unclear:
		v.Outcome = Inconclusive
		v.Why += ", " + t.doubt(g)
	case within:
		if t.grew(g) {
			v.Allowed = true
			v.Why += ": got worse within " + t.limitWords(g)
		}
	}
}

// confirm checks whether there are two measurements, and whether they agree. An
// unconfirmed speed-up is still not slower, so it passes.
func (t *test) confirm(v *Verdict, seen look) {
	confirmed, unconfirmed := Regression, Inconclusive
	if seen == better {
		confirmed, unconfirmed = Improvement, Pass
	}
	switch {
	case !t.change.Paired:
		v.Outcome = confirmed
		v.Why += ", not measured side by side"
	case t.unconfirmed != nil:
		v.Outcome = unconfirmed
		v.Why += ", not confirmed: " + t.unconfirmed.Error()
	case !t.agree():
		v.Outcome = unconfirmed
		v.Why += ", not confirmed: " + t.found()
	default:
		v.Outcome = confirmed
		v.Why += ", confirmed by a second measurement"
	}
}

// undecided reports whether a second measurement is needed: to confirm a change, or
// because the loads of both may decide what those of the first leave open.
func (t *test) undecided() bool {
	if t.err != nil || !t.change.Paired || t.rule.Severity == Ignore {
		return false
	}
	if seen := t.look(); seen != unclear {
		return seen != within
	}
	if g := growthOf(&t.change); t.change.P <= stat.AgreeP && (g.beyond(t.rule) || t.rule.bothWays(t.change.Measure) && g.mirrored().beyond(t.rule)) {
		return true
	}
	// Twice the loads would shrink the interval, if they found the same.
	twice := *t
	twice.halves = make([]stat.Change, 2)
	c := &twice.change
	c.Loads *= 2
	switch least, ok := twice.enough(); {
	case c.Loads < least:
		return false
	case !ok:
		return true
	}
	const part = (1 - 1/math.Sqrt2) / 2
	narrow, by := math.Pow(c.High/c.Low, part), part*(c.By.High-c.By.Low)
	c.Low, c.High, c.By.Low, c.By.High = c.Low*narrow, c.High/narrow, c.By.Low+by, c.By.High-by
	if twice.p = 1; c.Low > 1 || c.High < 1 {
		twice.p = 0
	}
	return twice.look() != unclear
}

// mostTimes is how many times the budget anybody would wait for.
const mostTimes = 100

// budgetFor says how much longer the measurement must be to resolve the threshold: the
// interval and the noise shrink as the square root of the loads grows.
func (t *test) budgetFor(g growth) string {
	c := &t.change
	limit, width, band := g.limit(t.rule), g.high-g.low, c.Band
	if c.NearZero() {
		limit, width, band = limit*max(math.Abs(g.base), stat.MinNet), c.By.High-c.By.Low, c.By.Band
	}
	if !c.Paired || limit <= 0 {
		return ""
	}
	return t.budgetTimes(max(width, band) / limit)
}

// budgetTimes says how much longer the measurement must be to resolve a part of what it
// resolves now.
func (t *test) budgetTimes(part float64) string {
	times := math.Ceil(part * part)
	switch {
	case times <= 1:
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
	case t.contradicted():
		return "contradictory: " + t.found()
	case limit == 0 && t.notClear(g) && t.p > t.deciding():
		return fmt.Sprintf("not certain: a regression needs p %s", probability(t.deciding()))
	case limit == 0 && t.notClear(g):
		return "significant but not clear of the noise"
	case limit == 0 && t.hidden(g) > 1:
		return "too coarse to call it no slower" + t.budgetTimes(t.hidden(g))
	case limit == 0:
		return "too coarse to exclude what it would catch"
	case g.share <= limit && g.high-g.low <= limit && t.coarse(g):
		return "noisier than " + t.limitWords(g) + t.budgetFor(g)
	case g.share <= limit:
		return "too coarse for " + t.limitWords(g) + t.budgetFor(g)
	case t.p > t.deciding():
		return "beyond " + t.limitWords(g) + " but not significant"
	default:
		return "beyond " + t.limitWords(g) + " but not clear of the noise"
	}
}
