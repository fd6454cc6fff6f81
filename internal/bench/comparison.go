package bench

import "time"

// Comparison is what was measured of two sides, base and head: what a change
// did to each benchmark, before anybody judges it.
type Comparison struct {
	// Tool is the version of ebpf-bench that measured.
	Tool string `json:"tool"`
	// Testbed is what the head was measured on. In a paired comparison the
	// base was measured there too.
	Testbed Testbed `json:"testbed"`
	// BaseTestbed is what the base was measured on where it was not beside the
	// head: numbers that were stored.
	BaseTestbed *Testbed  `json:"base_testbed,omitempty"`
	Started     time.Time `json:"started"`
	// Elapsed is the time of the whole comparison, in seconds; 0 in exact mode.
	Elapsed float64 `json:"elapsed_s,omitempty"`
	// Seed is the seed of the order of the rounds.
	Seed uint64 `json:"seed"`
	// Partial says that the comparison ended before its time.
	Partial bool `json:"partial,omitempty"`
	// Shard is the part of the benchmarks that was measured, nil for all of them.
	Shard *Shard `json:"shard,omitempty"`
	// Missing are the shards that the comparison lacks, where others were joined.
	// It is partial then.
	Missing Shards `json:"missing,omitempty"`
	// Thresholds is the file of thresholds that judged the comparison, as of a Run.
	Thresholds string `json:"thresholds,omitempty"`
	Base       Side   `json:"base"`
	Head       Side   `json:"head"`
	// Pairs are the benchmarks of both sides, in the head's order, those that
	// only the base has last.
	Pairs []Pair `json:"pairs"`
	// Confirmed are the pairs that were measured a second time, from the
	// start, because the first time they looked slower or faster.
	Confirmed []Pair `json:"confirmed,omitempty"`
}

// Side says what one of the two sides is.
type Side struct {
	// Name is what the user called it: a file, a revision, a baseline.
	Name string `json:"name"`
	// Commit and Branch are where it comes from, where that is known.
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Stored says of a base that comes from a baseline which run that is, in words such
	// as "stored 2 commits before the merge base".
	Stored string `json:"stored,omitempty"`
}

// Pair is one benchmark on both sides. In a paired comparison element i of the
// rounds of Base, Head, Again and of their floors is the same round, and the
// rounds of a load are those with the same number in Counters.Load.
type Pair struct {
	Benchmark string `json:"benchmark"`
	// Base or Head is nil where only the other side has the benchmark.
	Base *Result `json:"base,omitempty"`
	Head *Result `json:"head,omitempty"`
	// Again is a second load of the base, measured in the same rounds: how far
	// it seems to differ from the base is the noise of this benchmark, here
	// and now. In exact mode it is the base counted again, alone, and there
	// only where base and head differ and chance may have a say in it. It is nil
	// where the numbers were stored.
	Again *Result `json:"again,omitempty"`
	// Lines are the lines of source of which the head executes more or fewer BPF
	// instructions than the base: what changed most first, no more than MaxLines.
	Lines []Line `json:"lines,omitempty"`
}

// MaxLines is how many lines a Pair has at most.
const MaxLines = 20

// Paired reports whether both sides were measured in the same rounds, if they were
// timed.
func (p *Pair) Paired() bool { return p.Again != nil }

// HeadRun is the head of a comparison as a run.
func (c *Comparison) HeadRun() *Run {
	run := &Run{
		Tool: c.Tool, Testbed: c.Testbed, Started: c.Started,
		Elapsed: c.Elapsed, Seed: c.Seed, Partial: c.Partial,
	}
	for _, p := range c.Pairs {
		if p.Head != nil {
			run.Results = append(run.Results, *p.Head)
		}
	}
	return run
}
