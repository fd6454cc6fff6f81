// Package selftest measures the error rates of the gate.
package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/programs"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Report is the result of a test of the gate.
type Report struct {
	Version int           `json:"version"`
	Tool    string        `json:"tool"`
	Testbed bench.Testbed `json:"testbed"`
	Started time.Time     `json:"started"`
	// Same counts the comparisons of benchmarks with themselves.
	Same *Rate `json:"same,omitempty"`
	// Extra has a rate for each amount of extra work.
	Extra []Rate `json:"extra"`
}

// Rate is how often something was called changed.
type Rate struct {
	Driver string `json:"driver"`
	// Steps is the extra work in steps of the program. Growth is the resulting
	// true growth of its net cost, as a share, and NS the same in nanoseconds.
	Steps  int     `json:"steps"`
	Growth float64 `json:"growth"`
	NS     float64 `json:"ns"`
	// Budget is the measuring time of a comparison and its confirmation, in
	// seconds; Took is the median time that both took, including set-up.
	Budget float64 `json:"budget_s"`
	Took   float64 `json:"took_s"`
	Tries  int     `json:"tries"`
	// Called counts the tries that were called a change: false alarms
	// without extra work, else detections. It excludes inconclusive ones.
	Called       int `json:"called"`
	Inconclusive int `json:"inconclusive"`
	Failed       int `json:"failed"`
}

// baseSteps is the work of the base, well over 100 ns.
const baseSteps = 200

// extraWork is an amount of extra work to detect, and the time for it.
type extraWork struct {
	growth float64 // as a share; 0 is one nanosecond
	budget time.Duration
}

// A driver runs one of the bundled programs.
type driver struct {
	name, program string
	settings      string // YAML
	// extras is the work to detect, the quickest first.
	extras []extraWork
}

var (
	// Nothing but the program runs in the time of a call.
	fine = []extraWork{{0.02, 2 * time.Second}, {0.01, 5 * time.Second}, {0.005, 10 * time.Second}, {0.05, 2 * time.Second}, {0, 2 * time.Second}}
	// Events of the kernel make these programs run, with cold caches.
	coarse = []extraWork{{0.2, 2 * time.Second}, {0.1, 5 * time.Second}, {0.05, 10 * time.Second}}
)

var drivers = []driver{
	{"test_run", "work_xdp", "test_run: {}", fine},
	{"veth", "work_xdp", "veth: {}", fine},
	{"perf_event", "work_perf_event", "perf_event: {event: cpu-clock, frequency: 9999, load: {cpu: 1}}", coarse},
	{"cgroup", "work_cgroup", "cgroup: {}", coarse},
	{"socket", "work_socket", "socket: {}", coarse},
	{"command", "work_raw_tp", "command: {load: syscalls}", coarse},
}

func (o Options) driver() driver { return drivers[max(0, slices.Index(Drivers(), o.Driver))] }

// Drivers returns the names of the drivers that the gate can be tested with.
func Drivers() []string {
	var names []string
	for _, d := range drivers {
		names = append(names, d.name)
	}
	return names
}

// Options control how long to test the gate.
type Options struct {
	// Tool is the version of this tool.
	Tool string
	// Tries is how often to look for each amount of extra work, and Same how
	// many benchmarks to compare with themselves.
	Tries, Same int
	// Budget is the measuring time of each comparison, including the
	// confirmation; 0 means 2 s, and more for small effects.
	Budget time.Duration
	// Driver is one of Drivers. The default is test_run for programs with extra
	// work, and the bundled suite for comparisons of a benchmark with itself.
	Driver string
	// Seed is the seed of the first comparison; each takes the next.
	Seed uint64
	// Say is called with the findings so far.
	Say func(format string, args ...any)
}

// Gate tests the gate on this machine. If an error ends it early, it returns
// the findings so far with the error.
func (o Options) Gate(ctx context.Context) (*Report, error) {
	g := &gate{Options: o, policy: thresholds.Statistics()}
	r := &Report{Version: 1, Tool: o.Tool, Testbed: probe.Testbed(), Started: time.Now().UTC().Truncate(time.Second), Extra: []Rate{}}
	r.Testbed.Mode = bench.ModeHost
	return r, g.fill(ctx, r)
}

func (g *gate) fill(ctx context.Context, r *Report) error {
	if g.Same > 0 {
		rate, err := g.compareSame(ctx, g.Same, cmp.Or(g.Budget, 2*time.Second))
		r.Same = &rate
		if err != nil {
			return err
		}
	}
	if g.Tries == 0 {
		return nil
	}
	d := g.driver()
	step, net, err := g.step(ctx, d)
	if err != nil {
		return err
	}
	for _, x := range d.extras {
		steps := int(math.Round(x.growth * net / step))
		if x.growth == 0 {
			steps = int(math.Round(1 / step))
		}
		budget := cmp.Or(g.Budget, x.budget)
		steps = max(steps, 1)
		rate := Rate{Steps: steps, NS: float64(steps) * step, Growth: float64(steps) * step / net}
		err := g.extra(ctx, &rate, d, g.Tries, budget)
		r.Extra = append(r.Extra, rate)
		if err != nil {
			return err
		}
	}
	return nil
}

// gate is a test in progress.
type gate struct {
	Options
	policy *thresholds.Policy
}

// compareSame compares benchmarks with themselves until there were n comparisons
// of a benchmark.
func (g *gate) compareSame(ctx context.Context, n int, budget time.Duration) (rate Rate, err error) {
	rate.Driver = cmp.Or(g.Driver, "all")
	pairs, err := g.driver().pairs(0)
	if g.Driver == "" {
		var s *suite.Suite
		if s, err = suite.Load(programs.FS, programs.SuiteFile); err == nil {
			pairs, err = runner.PlanPairs(s, s)
		}
	}
	if err != nil {
		return rate, err
	}
	rate.Budget = budget.Seconds()
	var took []float64
	for rate.Tries < n && ctx.Err() == nil {
		pairs := pairs[:min(len(pairs), n-rate.Tries)]
		began := time.Now()
		if err := g.try(ctx, &rate, pairs, budget, thresholds.Regression, thresholds.Improvement); err != nil {
			return rate, err
		}
		took = append(took, time.Since(began).Seconds()/float64(len(pairs)))
		rate.Took = median(took)
		g.Say("%d of %d benchmarks compared with themselves: %d false alarms", rate.Tries, n, rate.Called)
	}
	return rate, ctx.Err()
}

// extra compares a program with one that does some more steps.
func (g *gate) extra(ctx context.Context, rate *Rate, d driver, tries int, budget time.Duration) error {
	pairs, err := d.pairs(rate.Steps)
	if err != nil {
		return err
	}
	rate.Driver, rate.Budget = d.name, budget.Seconds()
	var took []float64
	for rate.Tries < tries && ctx.Err() == nil {
		began := time.Now()
		if err := g.try(ctx, rate, pairs, budget, thresholds.Regression); err != nil {
			return err
		}
		took = append(took, time.Since(began).Seconds())
		rate.Took = median(took)
	}
	g.Say("+%s: caught %d of %d", unit.Percent(rate.Growth), rate.Called, rate.Tries)
	return ctx.Err()
}

// try compares once, as the command does, and counts the outcomes. Half of the
// budget is for the confirming measurement, without which nothing is called a
// change.
func (g *gate) try(ctx context.Context, rate *Rate, pairs []runner.PairJob, budget time.Duration, called ...thresholds.Outcome) error {
	g.Seed += 2
	c, err := runner.CompareTwice(ctx, pairs, runner.Options{Budget: budget / 2, Seed: g.Seed, Tool: g.Tool, PlanLoads: g.policy.PlanLoads(len(pairs))}, g.policy.Flagged)
	if err != nil {
		return err
	}
	if c.Partial {
		return ctx.Err()
	}
	verdicts := g.policy.Compare(c, thresholds.Options{})
	for _, p := range c.Pairs {
		rate.Tries++
		for _, v := range verdicts.All {
			if v.Benchmark != p.Benchmark || v.Measure.Name != bench.Latency.Name && v.Outcome != thresholds.Failed {
				continue
			}
			switch {
			case slices.Contains(called, v.Outcome):
				rate.Called++
				if rate.Steps == 0 {
					g.Say("false alarm: %s: %s", v.Benchmark, v.Why)
				}
			case v.Outcome == thresholds.Inconclusive:
				rate.Inconclusive++
			case v.Outcome == thresholds.Failed:
				rate.Failed++
			}
		}
	}
	return nil
}

// step measures the cost of a step of the program and of the base, in
// nanoseconds. It uses many times the work, so that the figure is good to a
// percent.
func (g *gate) step(ctx context.Context, d driver) (step, net float64, err error) {
	const more = 5 * baseSteps
	pairs, err := d.pairs(more)
	if err != nil {
		return 0, 0, err
	}
	c, err := runner.Compare(ctx, pairs, runner.Options{Budget: 2 * time.Second, Seed: g.Seed, Tool: g.Tool})
	if err != nil {
		return 0, 0, err
	}
	if len(c.Pairs) == 0 {
		return 0, 0, ctx.Err()
	}
	p := c.Pairs[0]
	if failed := p.Base.Error + p.Head.Error; failed != "" {
		return 0, 0, errors.New(failed)
	}
	b, h := p.Base.Sample(bench.Latency.Name), p.Head.Sample(bench.Latency.Name)
	if b == nil || h == nil {
		return 0, 0, errors.New("the program that the gate is tested with was not measured")
	}
	net = median(b.Values)
	return (median(h.Values) - net) / more, net, nil
}

// pairs returns the program with the base's work, to be compared with itself if
// more is 0, else with the program that takes so many more steps.
func (d driver) pairs(more int) ([]runner.PairJob, error) {
	job := func(steps int) (*runner.Job, error) {
		text := fmt.Sprintf("version: 1\nobjects: [work/work_bpfel.o]\nbenchmarks:\n  - {name: work, program: %s, %s, globals: {STEPS: %d}}\n", d.program, d.settings, steps)
		object, err := programs.FS.ReadFile("work/work_bpfel.o")
		if err != nil {
			return nil, err
		}
		s, err := suite.Load(suite.Memory(map[string][]byte{"gate.yml": []byte(text), "work/work_bpfel.o": object}), "gate.yml")
		if err != nil {
			return nil, err
		}
		plan, err := runner.NewPlan(s)
		if err != nil {
			return nil, err
		}
		return plan.Jobs[0], nil
	}
	base, err := job(baseSteps)
	if err != nil {
		return nil, err
	}
	head, err := job(baseSteps + more)
	return []runner.PairJob{{Base: base, Head: head}}, err
}

// median returns the median, or 0 if there are no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// gateLegend explains the columns.
const gateLegend = `called is how often a change was called one: without extra work each is a false
alarm, and with it, what is neither called nor inconclusive was missed. time is
what a comparison and its confirmation may measure for, took the median of what
it took until the verdict: loading, planning and calibrating included, and
without extra work for each benchmark.`

// Print prints the report as a table.
func (r *Report) Print(w io.Writer) error {
	table := new(grid.Grid).Left("extra work", "driver", "time", "called", "inconclusive", "took")
	row := func(what string, rate *Rate) {
		budget := grid.None
		if rate.Budget > 0 {
			budget = fmt.Sprintf("%g s", rate.Budget)
		}
		table.Row(grid.Words(what, rate.Driver, budget, fmt.Sprintf("%d of %d", rate.Called, rate.Tries), strconv.Itoa(rate.Inconclusive), fmt.Sprintf("%.1f s", rate.Took))...)
	}
	if r.Same != nil {
		row("none", r.Same)
	}
	for i := range r.Extra {
		row(fmt.Sprintf("+%s, %s", unit.Percent(r.Extra[i].Growth), unit.NS(r.Extra[i].NS)), &r.Extra[i])
	}
	_, err := fmt.Fprintf(w, "Linux %s · %s · %s\n\n%s\n\n%s\n", escape.Printable(r.Testbed.Kernel), escape.Printable(r.Testbed.CPU), unit.Plural(r.Testbed.Cores, "core"), table.Text(0, false), gateLegend)
	return err
}
