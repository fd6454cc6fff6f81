package selftest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/runner"
)

// A legend below the table distinguishes its two times.
func TestGateTable(t *testing.T) {
	var b bytes.Buffer
	r := &Report{
		Testbed: bench.Testbed{Kernel: "6.18.44", CPU: "AMD EPYC", Cores: 2},
		Same:    &Rate{Driver: "all", Budget: 2, Took: 2.3, Tries: 40},
		Extra:   []Rate{{Driver: "test_run", Growth: 0.02, NS: 4, Budget: 2, Took: 3.1, Tries: 20, Called: 19, Inconclusive: 1}},
	}
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"extra work   driver    time  called    inconclusive  took\n",
		"+2.0%, 4 ns  test_run  2 s   19 of 20  1             3.1 s\n",
		"time is\nwhat a comparison and its confirmation may measure for, took the median of what\nit took",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, &b)
		}
	}
	if grid.Width(b.String()) > 80 {
		t.Errorf("wider than %d columns:\n%s", 80, &b)
	}
}

// Each driver runs its program, which is the base's if it takes no more steps.
func TestPairsOfDrivers(t *testing.T) {
	for _, d := range drivers {
		same, err := d.pairs(0)
		if err != nil {
			t.Fatal(err)
		}
		more, err := d.pairs(20)
		if err != nil {
			t.Fatal(err)
		}
		steps := func(j *runner.Job) any { return j.Globals["STEPS"] }
		if base, head := same[0].Base, same[0].Head; base.Driver() != d.name || steps(base) != steps(head) {
			t.Errorf("%s: driver %s, %v and %v steps", d.name, base.Driver(), steps(base), steps(head))
		}
		if steps(more[0].Base) == steps(more[0].Head) {
			t.Errorf("%s: both sides take %v steps", d.name, steps(more[0].Head))
		}
	}
}
