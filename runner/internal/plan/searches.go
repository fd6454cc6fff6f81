package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn/bytecode"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// Searches are the programs of a suite that are searched for inputs.
type Searches struct {
	Jobs []Search
	// Not are the names of benchmarks whose programs are not searched, by the reason.
	Not map[string][]string
}

// Search is a program that test_run gives inputs, as a benchmark has it loaded.
type Search struct {
	*Job
	// More are packets that other benchmarks give the program.
	More [][]byte
}

// NothingFound returns the results before anything is found.
func (s *Search) NothingFound() bench.Searched {
	return bench.Searched{Benchmark: s.Name, Object: s.Object.Path, ObjectSHA256: s.Object.SHA256, Program: bench.ClipName(s.Program), Type: s.Type(), Inputs: []bench.FoundInput{}}
}

// NewSearches returns the programs of a suite to which test_run gives inputs, each once,
// whatever drives their benchmarks.
func NewSearches(s *suite.Suite) (*Searches, error) {
	plan, err := New(s)
	if err != nil {
		return nil, err
	}
	objects, err := parseObjects(s.Objects)
	if err != nil {
		return nil, err
	}
	all := &Searches{Not: map[string][]string{}}
	for _, j := range plan.Jobs {
		frames := j.Frames
		if j, err = byTestRun(s, objects, j); err != nil {
			all.Not[err.Error()] = append(all.Not[err.Error()], j.Name)
			continue
		}
		i := slices.IndexFunc(all.Jobs, func(has Search) bool { return has.Program == j.Program && has.Object.Path == j.Object.Path })
		if i < 0 {
			all.Jobs = append(all.Jobs, Search{Job: j})
			continue
		}
		all.Jobs[i].More = append(all.Jobs[i].More, frames...)
	}
	return all, nil
}

// Warnings say which programs are not searched, and why.
func (s *Searches) Warnings() (all []string) {
	for _, why := range slices.Sorted(maps.Keys(s.Not)) {
		all = append(all, fmt.Sprintf("%s: not searched: %s", unit.Few(s.Not[why]), why))
	}
	return all
}

// byTestRun returns a job that runs the program of another by test_run, from packets of
// the same kind. If it cannot, it returns the other.
func byTestRun(s *suite.Suite, objects map[string]*object.Object, j *Job) (*Job, error) {
	p := j.ProgramSpec()
	if !progrun.Types[p.Type].TakesInput() {
		return j, fmt.Errorf("test_run gives no input to programs of type %s", j.Type())
	}
	for _, one := range j.Spec.Programs {
		if name := acts(one); name != "" {
			return j, fmt.Errorf("it calls %s, which must not be given arguments by chance", name)
		}
	}
	if j.TestRun != nil && !j.Parallel {
		return j, nil
	}
	b := *j.Benchmark
	packets := j.Packets()
	b.Parallel = false
	b.SetDriver(bench.DriverTestRun)
	if progrun.TakesPackets(p.Type) {
		b.TestRun.Packets = packets
	}
	if j.TestRun != nil {
		b.TestRun.Context = j.TestRun.Context
	}
	b.SetDriverDefaults()
	byItself, err := newJob(s, objects, &b)
	if err != nil {
		return j, errors.New("test_run cannot drive it")
	}
	return byItself, nil
}

// acting are helpers and kfuncs that do something to this process, or to the kernel, which
// depends on their arguments.
var acting = []string{"bpf_probe_write_user", "bpf_send_signal", "bpf_send_signal_thread", "bpf_sys_bpf", "bpf_sys_close", "bpf_override_return", "crash_kexec"}

// acts returns what a program calls that acts, or "".
func acts(p *ebpf.ProgramSpec) string {
	for i := range p.Instructions {
		if name := bytecode.Calls(&p.Instructions[i]); slices.Contains(acting, name) {
			return name
		}
	}
	return ""
}

// WithInput returns the job with another input: packets, a context unless it is nil, and
// entries of maps besides its own. If fresh is set, each slice is a run of each packet that
// finds maps as they were filled.
func (j *Job) WithInput(name string, frames [][]byte, context []byte, entries map[string][]bpfmap.Entry, fresh bool) *Job {
	c, b, t := *j, *j.Benchmark, *j.TestRun
	if b.Name = name; context != nil {
		t.Context = &bench.Context{Hex: fmt.Sprintf("%x", context)}
	}
	c.Benchmark, b.TestRun, c.Frames, c.Entries = &b, &t, frames, maps.Clone(j.Entries)
	if c.Entries == nil {
		c.Entries = map[string][]bpfmap.Entry{}
	}
	for name, more := range entries {
		c.Entries[name] = slices.Concat(c.Entries[name], more)
	}
	if t.Repeat = max(t.Repeat, len(frames)); fresh {
		t.Repeat, b.State, c.AnyRuns = max(len(frames), 1), bench.StateFresh, false
		c.resetMaps()
	}
	return &c
}
