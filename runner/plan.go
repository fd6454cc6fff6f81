package runner

import (
	"github.com/org/ebpf-bench-action/internal/suite"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/all" // plans need them
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

type (
	// Plan is a suite whose benchmarks are resolved to programs and packets.
	Plan = plan.Plan
	// Job is one benchmark and everything needed to measure it.
	Job = plan.Job
	// PairJob is one benchmark on two sides. One of the jobs is nil if only the
	// other side has the program.
	PairJob = plan.PairJob
	// Searches are the programs of a suite that are searched for inputs.
	Searches = plan.Searches
	// SearchJob is a program that is searched for inputs.
	SearchJob = plan.Search
	// Entry is an entry program of an object, and what a generated suite says
	// about it.
	Entry = plan.Entry
	// Global is a global variable of a program.
	Global = plan.Global
	// MapOutline describes a map as far as a suite has to know it.
	MapOutline = plan.MapOutline
)

// Misspelled is the start of the reason given for a hook that probably no
// kernel has; NotRun is the start of the warning that says why a program is
// only loaded.
const (
	Misspelled = hook.Misspelled
	NotRun     = plan.NotRun
)

// NewPlan resolves every benchmark of a suite. It needs no privileges and
// reports every problem it finds, joined into one error.
func NewPlan(s *suite.Suite) (*Plan, error) { return plan.New(s) }

// PlanSearches returns the programs of a suite to which test_run gives inputs, each once.
func PlanSearches(s *suite.Suite) (*Searches, error) { return plan.NewSearches(s) }

// PlanPairs resolves every benchmark of a suite on two sides: with the objects
// of head and with those of base, which must otherwise be the same suite. Head
// comes first, unlike on the command line.
func PlanPairs(head, base *suite.Suite) ([]PairJob, error) { return plan.Pairs(head, base) }

// PlanSuites resolves the benchmarks of two suites, each on its own objects,
// and pairs those with the same name. Head comes first.
func PlanSuites(head, base *suite.Suite) ([]PairJob, error) { return plan.Suites(head, base) }

// Alike returns which benchmarks that only the base has look like which that
// only the head has, by the head's name: their programs have most of their code
// in common.
func Alike(pairs []PairJob) map[string]string { return plan.Alike(pairs) }

// JoinAlike makes one pair of each two benchmarks that alike names, both with
// the head's workload. Head comes first.
func JoinAlike(pairs []PairJob, head, base *suite.Suite, alike map[string]string) ([]PairJob, error) {
	return plan.Join(pairs, head, base, alike)
}

// NeitherHas returns the benchmarks of a suite whose programs are on neither
// side.
func NeitherHas(head, base *suite.Suite) ([]string, error) { return plan.NeitherHas(head, base) }

// Entries returns the entry programs of objects, in the order of the objects,
// and by name within each.
func Entries(objects []suite.Object) ([]Entry, error) { return plan.Entries(objects) }

// Programs returns the names of the entry programs of objects, each once.
func Programs(objects []suite.Object) ([]string, error) { return plan.Programs(objects) }

// Suggest returns a suite for objects that have none: a benchmark for each
// program, with the default workload of its type. It also covers the programs
// of others, though the suite does not name these files.
func Suggest(objects, others []suite.Object) (string, error) { return plan.Suggest(objects, others) }
