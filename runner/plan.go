package runner

import (
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

type (
	// Plan is a suite whose benchmarks are resolved to programs and packets.
	Plan = plan.Plan
	// Job is one benchmark with what it takes to measure it.
	Job = plan.Job
	// PairJob is one benchmark on two sides. One of the jobs is nil where only the
	// other side has the program.
	PairJob = plan.PairJob
	// Entry is an entry program of an object, with what there is to say of it in a
	// suite that nobody has written yet.
	Entry = plan.Entry
	// Global is a global variable of a program.
	Global = plan.Global
	// MapOutline is what a suite has to know of a map.
	MapOutline = plan.MapOutline
)

// Misspelled begins the reason of a hook that no kernel is likely to have, NotRun the
// warning that says why a program is only loaded.
const (
	Misspelled = hook.Misspelled
	NotRun     = plan.NotRun
)

// NewPlan resolves every benchmark of a suite. It takes no privileges, and reports
// every problem that it finds, joined.
func NewPlan(s *suite.Suite) (*Plan, error) { return plan.New(s) }

// PlanPairs resolves every benchmark of a suite on two sides: with the head's objects,
// and with those of the base, which is the same suite but for that.
func PlanPairs(head, base *suite.Suite) ([]PairJob, error) { return plan.Pairs(head, base) }

// PlanSuites resolves the benchmarks of two suites, each on its own objects, and pairs
// those of the same name.
func PlanSuites(head, base *suite.Suite) ([]PairJob, error) { return plan.Suites(head, base) }

// NeitherHas lists the benchmarks of a suite whose programs are on neither of its two
// sides.
func NeitherHas(head, base *suite.Suite) ([]string, error) { return plan.NeitherHas(head, base) }

// Entries lists the entry programs of objects, in the order of the objects, each by its
// name.
func Entries(objects []suite.Object) ([]Entry, error) { return plan.Entries(objects) }

// Programs lists the entry programs of objects by name, each once.
func Programs(objects []suite.Object) ([]string, error) { return plan.Programs(objects) }

// Suggest writes a suite for objects that have none: a benchmark for each program, with
// the workload that its type takes by default, also for those of others, though the
// suite does not name these files.
func Suggest(objects, others []suite.Object) (string, error) { return plan.Suggest(objects, others) }
