package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Each side of a pair runs its own suite's program with the head's workload.
// Where values do not fit the base's program, it keeps its own, or gets none.
func TestPlanSuites(t *testing.T) {
	for _, c := range []struct{ name, head, base, want string }{
		{
			"by name", `
  - {name: a, program: fun_xdp_fizz, test_run: {repeat: 10}}
  - {name: new, program: fun_xdp_basic, test_run: {}}`, `
  - {name: gone, program: fun_xdp_fizzbuzz, test_run: {}}
  - {name: a, program: fun_xdp_basic, test_run: {repeat: 20}}`,
			"a: fun_xdp_basic 10 -> fun_xdp_fizz 10 (both sides have the head's test_run: those of the base's suite differ; new: -> fun_xdp_basic 2000; gone: fun_xdp_fizzbuzz 2000 ->",
		},
		{
			"another driver", `
  - {name: a, program: fun_xdp_fizz, test_run: {}}`, `
  - {name: a, program: fun_xdp_fizz, veth: {}}`,
			"a: fun_xdp_fizz 2000 -> fun_xdp_fizz 2000 (both sides have the head's test_run, veth: those of the base's suite differ",
		},
		{
			"another type", `
  - {name: a, program: fun_xdp_fizz, test_run: {}}`, `
  - {name: a, program: profile, perf_event: {}}`,
			"a: -> fun_xdp_fizz 2000 (not compared: base: ",
		},
		{
			"the base lacks its own programs", `
  - {name: a, program: fun_xdp_fizz, test_run: {}}`, `
  - {name: a, program: nosuch, test_run: {}}
  - {name: b, program: nosuch, test_run: {}}`,
			"a: -> fun_xdp_fizz 2000",
		},
		{
			"values", `
  - {name: a, program: profile, globals: {PID: 1}, perf_event: {}}
  - {name: b, program: profile, globals: {PID: 1}, perf_event: {}}`, `
  - {name: a, program: profile, globals: {PID: 2}, perf_event: {}}
  - {name: b, program: profile, perf_event: {}}`,
			"a: profile PID=1 -> profile PID=1 (both sides have the head's globals: those of the base's suite differ; b: profile PID=1 -> profile PID=1 (both sides have the head's globals: those of the base's suite differ",
		},
	} {
		pairs, err := PlanSuites(suiteOf(t, objects+c.head), suiteOf(t, objects+c.base))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, p := range pairs {
			got = append(got, strings.TrimSpace(p.Name()+":"+describe(p.Base)+" ->"+describe(p.Head)))
		}
		if text := strings.Join(got, "; "); !strings.HasPrefix(text, c.want) || !strings.Contains(c.want, "(") && text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, text, c.want)
		}
	}
}

func describe(j *Job) string {
	if j == nil {
		return ""
	}
	text := " " + j.Program
	if j.TestRun != nil {
		text += fmt.Sprintf(" %d", j.TestRun.Repeat)
	}
	for _, name := range slices.Sorted(maps.Keys(j.Globals)) {
		text += fmt.Sprintf(" %s=%v", name, j.Globals[name])
	}
	for _, w := range j.Warnings {
		if strings.Contains(w, "base") {
			text += " (" + w
		}
	}
	return text
}
