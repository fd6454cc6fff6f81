package bench

import (
	"slices"
	"time"
)

// Search says on which inputs programs cost most, and which reach most of them.
type Search struct {
	// Tool is the version of ebpf-bench that searched.
	Tool    string    `json:"tool"`
	Testbed Testbed   `json:"testbed"`
	Started time.Time `json:"started"`
	// Seed is that of the search of each program. With the same one, and as many inputs,
	// a search finds the same again, unless time or chance decides what a program executes.
	Seed uint64 `json:"seed"`
	// Programs are those that were searched, in the suite's order.
	Programs []Searched `json:"programs"`
	// Partial says that the search was ended early, so Programs lacks some, or one was
	// searched for less time than the others.
	Partial bool `json:"partial,omitempty"`
}

// Searched is what a search of a program found.
type Searched struct {
	// Benchmark is the benchmark with whose packets and maps the search began.
	Benchmark string `json:"benchmark"`
	// Object is the object's path in the suite, ObjectSHA256 its digest in hex.
	Object       string `json:"object"`
	ObjectSHA256 string `json:"object_sha256,omitempty"`
	Program      string `json:"program"`
	// Type is the program's type in the kernel's spelling, such as xdp.
	Type string `json:"type"`
	// Tried is how many inputs were tried, Refused how many of them the kernel did not run,
	// and Unsteady how many executed something else when they were tried again.
	Tried    int `json:"tried"`
	Refused  int `json:"refused,omitempty"`
	Unsteady int `json:"unsteady,omitempty"`
	// Elapsed is how long they were tried, in seconds; 0 in exact mode.
	Elapsed float64  `json:"elapsed_s,omitempty"`
	Blocks  Coverage `json:"blocks"`
	// Inputs are those that were found, each counted from a fresh load: what the benchmark
	// gives the program, what costs most, and what reaches the rest.
	Inputs []FoundInput `json:"inputs"`
	// Unreached are the lines of the blocks that a run may reach and no input did.
	Unreached []Source `json:"unreached,omitempty"`
	// Error says why nothing was searched, Hint what to do about it. Log is the output of
	// the verifier.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	Log   string `json:"log,omitempty"`
	// Warnings are what a reader must know to trust the inputs.
	Warnings []string `json:"warnings,omitempty"`
}

// Coverage is how much of a program inputs reach, in basic blocks of its bytecode and of
// that of the programs that it tail calls.
type Coverage struct {
	// All is how many there are, and Alive how many a run may reach, as far as the verifier
	// knows, nil if it does not say.
	All   int  `json:"all"`
	Alive *int `json:"alive,omitempty"`
	// Default is how many the benchmark's own packets reach, and Reached how many any input
	// did that was tried.
	Default int `json:"default"`
	Reached int `json:"reached"`
}

// Reachable returns how many blocks a run may reach, as far as that is known.
func (c *Coverage) Reachable() int {
	if c.Alive != nil {
		return *c.Alive
	}
	return c.All
}

// The names of inputs that are not numbered.
const (
	// InputDefault is what the benchmark gives the program.
	InputDefault = "default"
	// InputWorst costs most, and InputWorstPacket most of those that put nothing in maps,
	// if it is another.
	InputWorst       = "worst"
	InputWorstPacket = "worst-packet"
)

// FoundInput is an input of a program, and what its runs execute, all of which find maps as
// the benchmark prepares them: one run for each packet, or a single one.
type FoundInput struct {
	// Name is default, worst, worst-packet, or cover and a number.
	Name string `json:"name"`
	// Packets are in hex, from the Ethernet header on.
	Packets []string `json:"packets,omitempty"`
	// Context is that of all runs, in hex, empty for the default of the program's type.
	Context string `json:"context,omitempty"`
	// Entries are in maps besides what the benchmark puts there.
	Entries []FoundEntry `json:"entries,omitempty"`
	// Fresh says that runs find something else in maps after those of this input, so that
	// these must be filled anew before each.
	Fresh bool `json:"fresh,omitempty"`
	// PerRun is the mean number of BPF instructions executed per run.
	PerRun float64 `json:"per_run"`
	// Cost is what a run of those inputs costs that were measured: its latency, or in exact
	// mode its machine instructions, both net of the floor.
	Cost *Sample `json:"cost,omitempty"`
	// Retvals is what the runs returned, in turn.
	Retvals []uint32 `json:"retvals"`
	// Reached is how many basic blocks the runs reach, and New how many of these no input
	// before it in the list does.
	Reached int `json:"reached"`
	New     int `json:"new"`
	// Lines are those that the runs reach and those of no input before it do.
	Lines []Source `json:"lines,omitempty"`
	// Dearest is the line for which a run executes most, compared with a run of the default
	// input. It is nil without debug information.
	Dearest *Source `json:"dearest,omitempty"`
}

// Returned names what the runs of an input returned, each once.
func (s *Searched) Returned(in *FoundInput) (names []string) {
	for _, v := range in.Retvals {
		if name := RetvalName(s.Type, v); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// FoundEntry is an entry of a map, in hex.
type FoundEntry struct {
	Map   string `json:"map"`
	Key   string `json:"key"`
	Value string `json:"value"`
}
