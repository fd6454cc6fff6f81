package judge

import (
	"reflect"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report/compare"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Failures with the same reason on both sides, or on several kernels, are reported once.
func TestFailuresAreFolded(t *testing.T) {
	refused := &bench.Result{Benchmark: "a", Error: "refused", Hint: "see -v", Log: "1\n2"}
	var all failureList
	for _, kernel := range []string{"6.1.0", "6.12.107"} {
		all.add(refused, "base", kernel)
		all.add(refused, "head", kernel)
	}
	all.add(&bench.Result{Benchmark: "a", Error: "another"}, "head", "6.12.107")
	all.add(&bench.Result{Benchmark: "b"}, "head", "6.12.107")
	var got []string
	for _, err := range all.errors(true, false) {
		got = append(got, err.Error())
	}
	want := []string{"a on Linux 6.1.0, 6.12.107, base and head: refused", "a on Linux 6.12.107, head: another"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if hint := bench.Hint(all.errors(true, false)[0]); hint != "see -v" {
		t.Errorf("the hint is %q", hint)
	}
}

// Kernels that were requested and not measured still count.
func TestMeasuredOn(t *testing.T) {
	asked := []thresholds.Kernel{{Name: "trixie"}, {Name: "6.1"}}
	a, b := &bench.Testbed{Asked: "trixie", Kernel: "6.12.107"}, &bench.Testbed{Asked: "6.1", Kernel: "6.1.0"}
	want := []thresholds.Kernel{{Name: "trixie", Release: "6.12.107"}, {Name: "6.1", Release: "6.1.0"}}
	if got := measuredOn(asked, []*bench.Testbed{a, b}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	want = []thresholds.Kernel{{Name: "6.1", Release: "6.1.0"}, {Name: "trixie"}}
	if got := measuredOn(asked, []*bench.Testbed{b}); !reflect.DeepEqual(got, want) {
		t.Errorf("where one failed: %+v", got)
	}
}

// One value over a budget that fails is enough, whatever else only warns.
func TestRunsOverBudget(t *testing.T) {
	warn, fail := bench.Alert{Severity: string(thresholds.Warn)}, bench.Alert{Severity: string(thresholds.Fail)}
	for _, test := range []struct {
		alerts []bench.Alert
		want   int
	}{
		{nil, 0},
		{[]bench.Alert{warn}, 0},
		{[]bench.Alert{fail, warn}, exit.Regression},
		{[]bench.Alert{warn, fail}, exit.Regression},
	} {
		run := &bench.Run{Results: []bench.Result{{Benchmark: "a", Alerts: test.alerts}}}
		j := &Judge{Policy: &thresholds.Policy{}}
		if _, err := j.Runs(t.Context(), nil, []*bench.Run{run}); exit.CodeOf(err) != test.want {
			t.Errorf("%v: exit code %d, %v", test.alerts, exit.CodeOf(err), err)
		}
	}
}

// A comparison that a signal ended before its first benchmark has no verdict, for another
// reason than thresholds.
func TestVerdictOnNothing(t *testing.T) {
	for _, partial := range []bool{false, true} {
		m := compare.New(compare.Table{Comparison: &bench.Comparison{Partial: partial}, Verdicts: &thresholds.Verdicts{Partial: partial}})
		if _, err := (&Judge{Policy: thresholds.Default()}).Verdict(m); (err == nil) != partial {
			t.Errorf("partial: %t: %v", partial, err)
		}
		var text strings.Builder
		if err := compare.Text(&text, m); err != nil || strings.Contains(text.String(), "identical") {
			t.Errorf("partial: %t: %v, %s", partial, err, &text)
		}
	}
}
