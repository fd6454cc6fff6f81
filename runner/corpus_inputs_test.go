package runner

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/pmu"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// Where runs are said not to depend on what others leave of their input, and depend
// neither on maps nor on chance, 2,000 in one call execute what as many calls do. It
// logs the programs whose runs do depend, and what that changes.
func TestCorpusInputs(t *testing.T) {
	depend, moved := tally{}, 0
	for _, o := range corpus(t, true) {
		read, err := object.Parse(o.data)
		if err != nil {
			t.Logf("%s: not read: %v", o.name, err)
			continue
		}
		for _, name := range read.Programs() {
			j, err := inputsJob(o, name)
			if err != nil || j.TestRun == nil {
				depend["not by test_run"]++
				continue
			}
			if !j.SharesInput() {
				depend["each with a call of its own, by their type"]++
				continue
			}
			apart := *j
			apart.Fresh = "anything"
			together, repeatable, err := countedSlice(t, j)
			if err != nil {
				depend["not loaded or not run"]++
				continue
			}
			single, _, err := countedSlice(t, &apart)
			if err != nil {
				t.Errorf("%s %s: calls of many runs are possible, and of one are not: %v", o.name, name, err)
				continue
			}
			on := count.Study(t.Context(), j)[0].Fresh
			awaitFree()
			depend["on "+on]++
			what := fmt.Sprintf("%s %s: %.4g BPF instructions a run in one call, %.4g in calls of their own", filepath.Base(o.name), name, together, single)
			switch {
			case on == "" && repeatable && together != single:
				t.Errorf("%s: and runs are said to be alike", what)
			case on != "" && math.Abs(together-single) > 0.02*single:
				moved++
				t.Logf("%s: a run depends on %s", what, on)
			case on != "":
				t.Logf("%s %s: a run depends on %s", filepath.Base(o.name), name, on)
			}
		}
	}
	depend.log(t, "runs depend")
	t.Logf("Linux %s: the instructions of %d programs move by more than 2%%", probe.Testbed().Kernel, moved)
	if depend["on "] == 0 || depend["on "+driver.OnPacket] == 0 {
		t.Error("of some programs runs should depend on the packet, and of others not")
	}
}

// inputsJob resolves a benchmark of a program by its default driver, on packets of
// several protocols if it takes any.
func inputsJob(o corpusObject, program string) (*Job, error) {
	with := func(driver string) (*Job, error) {
		text := fmt.Sprintf("version: 1\nobjects: [x.o]\nbenchmarks:\n  - {name: a, program: %q%s}\n", program, driver)
		s, err := suite.Load(fstest.MapFS{"x.o": {Data: o.data}, "suite.yml": {Data: []byte(text)}}, "suite.yml")
		if err != nil {
			return nil, err
		}
		p, err := plan.New(s)
		if err != nil {
			return nil, err
		}
		return p.Jobs[0], nil
	}
	j, err := with("")
	if err != nil || j.TestRun == nil || len(j.Frames) == 0 {
		return j, err
	}
	return with(", test_run: {packets: [{ipv4: {}, udp: {dst: 53}}, {ipv4: {}, tcp: {dst: 80}}, {ipv6: {}, udp: {dst: 53}}, {eth: {vlan: 7}, ipv4: {}, udp: {}}]}")
}

// countedSlice returns how many BPF instructions a run of a slice executes, and
// whether that can depend on nothing but its input.
func countedSlice(t *testing.T, j *Job) (perRun float64, repeatable bool, err error) {
	defer awaitFree()
	spec := j.Spec.Copy()
	subject.ZeroSeeds(spec)
	table, err := insn.Instrument(spec, insn.Options{})
	if err != nil {
		return 0, false, err
	}
	env := &driver.Environment{Exact: true, Late: true, Counters: &pmu.Counters{}}
	defer env.Close()
	s, err := subject.OpenSpec(t.Context(), env, j, spec)
	if err != nil {
		return 0, false, err
	}
	defer s.Close()
	if err := s.Drive(t.Context()); err != nil {
		return 0, false, err
	}
	counts, err := table.Read(s.Coll)
	if err != nil {
		return 0, false, err
	}
	return float64(counts.Total()) / float64(j.TestRun.Repeat), table.Repeatable(j.Spec), nil
}
