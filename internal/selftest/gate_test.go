package selftest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/grid"
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
