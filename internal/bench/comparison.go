package bench

import "time"

// Comparison is what was measured on two sides, base and head: the effect of a change on
// each benchmark, before it is judged.
type Comparison struct {
	// Tool is the version of ebpf-bench that measured.
	Tool string `json:"tool"`
	// Testbed is what the head was measured on. In a paired comparison the base was
	// measured there too.
	Testbed Testbed `json:"testbed"`
	// BaseTestbed is what the base was measured on, if it was not measured beside the head
	// but stored.
	BaseTestbed *Testbed  `json:"base_testbed,omitempty"`
	Started     time.Time `json:"started"`
	// Elapsed is the time of the whole comparison, in seconds; 0 in exact mode.
	Elapsed float64 `json:"elapsed_s,omitempty"`
	// Seed is the seed of the order of the rounds.
	Seed uint64 `json:"seed"`
	// Partial says that the comparison ended early.
	Partial bool `json:"partial,omitempty"`
	// Shard is the part of the benchmarks that was measured, nil for all of them.
	Shard *Shard `json:"shard,omitempty"`
	// Missing are the shards that the comparison lacks, if it was merged from others. It
	// is partial then.
	Missing Shards `json:"missing,omitempty"`
	// MissingKernels are kernels that were to be measured on beside this one, and have no
	// comparison, by the names of Testbed.Asked.
	MissingKernels []string `json:"missing_kernels,omitempty"`
	// Thresholds is the file of thresholds that judged the comparison, as for a Run.
	Thresholds string `json:"thresholds,omitempty"`
	// Workflow is the attempt of the GitHub workflow that measured, nil elsewhere.
	Workflow *Attempt `json:"workflow,omitempty"`
	Base     Side     `json:"base"`
	Head     Side     `json:"head"`
	// Pairs are the benchmarks of both sides, in the head's order. Those that only the
	// base has come last.
	Pairs []Pair `json:"pairs"`
	// Confirmed are the pairs that were measured a second time, from the start, because
	// they looked slower or faster the first time, or because that left it open.
	Confirmed []Pair `json:"confirmed,omitempty"`
}

// Side describes one of the two sides.
type Side struct {
	// Name is what the user called it: a file, a revision, a baseline.
	Name string `json:"name"`
	// Commit and Branch are where it comes from, if known.
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Note says more about it, in words such as "stored 2 commits before the merge base".
	Note string `json:"note,omitempty"`
	// Merged says that the commit was merged into the other side's before it was measured.
	Merged bool `json:"merged,omitempty"`
}

// Pair is one benchmark on both sides. In a paired comparison element i of the
// rounds of Base, Head, Again and of their floors is the same round, and the
// rounds of a load are those with the same number in Counters.Load.
type Pair struct {
	Benchmark string `json:"benchmark"`
	// Base or Head is nil if only the other side has the benchmark.
	Base *Result `json:"base,omitempty"`
	Head *Result `json:"head,omitempty"`
	// LooksLike is the name of the base's benchmark if it is another one: the base has none
	// of this name, and the program looks like this one's.
	LooksLike string `json:"looks_like,omitempty"`
	// Identical says that both sides have the same workload and the same object, byte for
	// byte or in all that the kernel is given of it for this benchmark. The head was
	// measured alone, and the base has its figures.
	Identical bool `json:"identical,omitempty"`
	// Again is a second load of the base, measured in the same rounds: its apparent
	// difference from the base is the noise of this benchmark, here and now. It is nil if
	// nothing was timed, the numbers were stored or the sides are identical.
	Again *Result `json:"again,omitempty"`
	// Lines are the lines of source for which the head executes more or fewer BPF
	// instructions than the base: the largest change first, no more than MaxLines.
	Lines []Line `json:"lines,omitempty"`
	// Edited are the lines of source that were written or compile differently than in the
	// base, as far as instructions belong to them: those of the program, and of programs
	// that it tail calls. It is empty if they are more than MaxEdited, if BPF instructions
	// were not counted, or without debug information.
	Edited []EditedLine `json:"edited,omitempty"`
	// Data says how the maps and variables of both sides differ, such as "map m: entries 64
	// → 4,096", if the instructions do not: no more than MaxData.
	Data []string `json:"data,omitempty"`
	// Budget is the time for measuring both sides, in seconds; 0 if nothing was timed.
	Budget float64 `json:"budget_s,omitempty"`
	// Doubt says why the figures say nothing about the change: a side is not known to be
	// built from its own sources, or its program knows where it was built. It is empty if
	// nothing speaks against them.
	Doubt string `json:"doubt,omitempty"`
}

// EditedLine is a line of source of the head that the base has not or has differently.
type EditedLine struct {
	File   string `json:"file"`
	Number int    `json:"line"`
	// Reached says that runs of the head executed all that is new in the line.
	Reached bool `json:"reached,omitempty"`
}

// MaxLines is how many lines, MaxEdited how many edited ones and MaxData how many
// differences of data a Pair has at most.
const (
	MaxLines  = 20
	MaxEdited = 1000
	MaxData   = 10
)

// Paired reports whether both sides were measured in the same rounds, if they were timed.
func (p *Pair) Paired() bool { return p.Again != nil }

// HeadRun returns the head of a comparison as a run.
func (c *Comparison) HeadRun() *Run {
	run := &Run{
		Tool: c.Tool, Testbed: c.Testbed, Started: c.Started,
		Elapsed: c.Elapsed, Seed: c.Seed, Partial: c.Partial, MissingKernels: c.MissingKernels,
	}
	for _, p := range c.Pairs {
		if p.Head != nil {
			run.Results = append(run.Results, *p.Head)
		}
	}
	return run
}
