// Package measure does what run and compare do between their flags and their reports: it
// opens what to measure, checks that the thresholds apply to it, and measures on this
// machine or on other kernels.
package measure

import (
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/judge"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner"
	"github.com/org/ebpf-bench-action/thresholds"
)

// Options say what is measured, how, and by which thresholds it is judged.
type Options struct {
	// Tool is the version of this tool.
	Tool string
	// File is the suite file, as for suite.Open.
	File string
	// Filter is a regular expression for the names of benchmarks.
	Filter string
	Shard  *bench.Shard
	// Limits is the file of thresholds; empty means the one that the suite names.
	Limits        string
	Rounds, Loads int
	Budget        time.Duration // per benchmark; 0 is the suite's
	Seed          uint64        // 0 is a random one
	Store         baseline.Store
	Machines      fleet.Machines
	Watch         Watch
}

// Watch receives what is under way.
type Watch interface {
	fleet.Watch
	// Run and Pairs receive the progress of a run or a comparison on this machine.
	Run(benchmarks int) runner.Progress
	Pairs(pairs int) runner.Progress
}

// Judged is what the results are judged by.
type Judged struct {
	// Limits is the file of the policy, empty for the built-in one.
	Limits string
	Policy *thresholds.Policy
	// Kernels are the requested kernels; see judge.Judge.Missed.
	Kernels []thresholds.Kernel
	// Notes are messages to show before anything is measured.
	Notes []bench.Note
}

// load reads the policy, and checks that it applies to what will be measured. idle returns
// a warning if part of it judges nothing there.
func (j *Judged) load(asked string, own, of *suite.Suite, scope func() (thresholds.Scope, error), idle func(*thresholds.Policy, []bench.Mode) string) (err error) {
	if j.Limits = judge.FileOf(asked, own); j.Limits == "" {
		j.Policy = thresholds.Default()
		return nil
	}
	if j.Policy, err = judge.Load(j.Limits, of); err != nil {
		return err
	}
	s, err := scope()
	if err != nil {
		return err
	}
	if err := j.Policy.Check(s); err != nil {
		return err
	}
	if what := idle(j.Policy, s.Modes); what != "" {
		j.Notes = append(j.Notes, bench.Warn("%s", what))
	}
	j.Kernels = s.Kernels
	return nil
}

// done returns a function that reports what was done on a kernel.
func (o *Options) done(what string) func(release string, took time.Duration) {
	return func(release string, took time.Duration) {
		o.Watch.Tell(bench.Say("%s on Linux %s in %.1f s", what, release, took.Seconds()))
	}
}

// nothing returns the note that a shard has no benchmarks. That is not a mistake: who asks
// for eight parts need not know how many benchmarks there are.
func (o *Options) nothing(benchmarks int) bench.Note {
	return bench.Say("nothing to measure in shard %s: there %s", o.Shard, map[bool]string{true: "is 1 benchmark", false: "are " + unit.Plural(benchmarks, "benchmark")}[benchmarks == 1])
}

// bundled returns the notes on a suite that nobody named.
func bundled(s *suite.Suite) (notes []bench.Note) {
	if s != nil && s.Bundled {
		notes = append(notes, bench.Say("no ebpf-bench.yml here: using the bundled suite"))
	}
	return notes
}
