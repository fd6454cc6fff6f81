package bench

import "time"

// Explanation says where the BPF instructions are that runs of benchmarks execute: line by
// line, for one side or two.
type Explanation struct {
	// Tool is the version of ebpf-bench that counted.
	Tool    string    `json:"tool"`
	Testbed Testbed   `json:"testbed"`
	Started time.Time `json:"started"`
	// Base is nil if only one side is explained.
	Base *Side `json:"base,omitempty"`
	Head Side  `json:"head"`
	// Programs are the explained programs, one per benchmark, in the suite's order.
	Programs []Explained `json:"programs"`
	// Partial says that counting was ended early, so Programs lacks some.
	Partial bool `json:"partial,omitempty"`
}

// Explained is one benchmark, line by line.
type Explained struct {
	Benchmark string `json:"benchmark"`
	Driver    string `json:"driver"`
	// Base and Head are the two sides, nil if there is no such side.
	Base *ExplainedSide `json:"base,omitempty"`
	Head *ExplainedSide `json:"head,omitempty"`
	// Lines are the lines of the programs of both sides, in order of program,
	// function and instruction.
	Lines []Line `json:"lines"`
	// Error says why nothing was counted, Hint what to do about it. Log is the output of
	// the verifier.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	Log   string `json:"log,omitempty"`
	// Warnings are what a reader must know to trust the counts.
	Warnings []string `json:"warnings,omitempty"`
}

// ExplainedSide is what one side's program executes as a whole.
type ExplainedSide struct {
	Object       string `json:"object"`
	ObjectSHA256 string `json:"object_sha256,omitempty"`
	Program      string `json:"program"`
	Type         string `json:"type,omitempty"`
	// Runs is how many runs were counted, as the kernel counts them: a program that is
	// entered again by a tail call is in the same run.
	Runs uint64 `json:"runs"`
	Executed
}
