// Package bench holds the nouns that every other package speaks: a Benchmark
// (what to measure), a Run with its Results and Samples (what was measured),
// and their versioned JSON. It knows nothing of kernels, files or statistics.
package bench

import (
	"fmt"
	"time"
)

// Benchmark is one named test: a program, how it is attached and what drives
// it. Exactly one of the drivers (TestRun, Veth, PerfEvent, Verify) is set.
type Benchmark struct {
	// Name identifies the benchmark in every report; unique in a suite, also
	// after slugifying.
	Name string `yaml:"name"`
	// Object is the ELF object that holds the program, relative to the suite
	// file. It may be left out when just one object of the suite has Program.
	Object string `yaml:"object"`
	// Program is the name of the program's function in the object.
	Program string `yaml:"program"`
	// Globals sets global variables by name before the program is loaded.
	Globals map[string]any `yaml:"globals"`
	// Maps prepares maps by name before the program runs.
	Maps map[string]MapPrep `yaml:"maps"`
	// Budget is the measuring time of this benchmark, without its warm-up.
	Budget Duration `yaml:"budget"`

	TestRun   *TestRun   `yaml:"test_run"`
	Veth      *Veth      `yaml:"veth"`
	PerfEvent *PerfEvent `yaml:"perf_event"`
	Verify    *Verify    `yaml:"verify"`
}

// Driver names what drives the benchmark, in the suite file's spelling.
func (b *Benchmark) Driver() string {
	switch {
	case b.TestRun != nil:
		return "test_run"
	case b.Veth != nil:
		return "veth"
	case b.PerfEvent != nil:
		return "perf_event"
	case b.Verify != nil:
		return "verify"
	}
	return ""
}

// MapPrep says what a map holds when the program runs, because what a lookup
// costs depends on it.
type MapPrep struct {
	// Entries are written once, after the program was loaded.
	Entries []MapEntry `yaml:"entries"`
	// Reset says when the map is emptied. Ring buffers, queues and stacks are
	// emptied before each slice unless told otherwise, as their reader would.
	Reset Reset `yaml:"reset"`
}

// MapEntry is one key with its value: an integer of the map's own width, or
// a hex string of exactly its size.
type MapEntry struct {
	Key   any `yaml:"key"`
	Value any `yaml:"value"`
}

// Reset is when a map is emptied.
type Reset string

// The moments at which a map can be emptied. The zero value leaves the choice
// to the map's type.
const (
	ResetDefault Reset = ""
	ResetNever   Reset = "never"
	ResetSlice   Reset = "slice"
)

// TestRun drives a program by BPF_PROG_RUN.
type TestRun struct {
	// Packets are run in turn, each Repeat/len(Packets) times a round.
	Packets []Packet `yaml:"packets"`
	// Repeat is the number of runs in a round (default 2,000).
	Repeat int `yaml:"repeat"`
}

// Veth attaches an XDP program to one end of a veth pair and sends it packets
// from the other end.
type Veth struct {
	// Mode is how XDP is attached: native (default) or generic.
	Mode XDPMode `yaml:"mode"`
	// Sender is what produces the packets: live_frames (Linux 5.18), af_packet,
	// or empty for the fastest that the kernel has.
	Sender string `yaml:"sender"`
	// Packets are sent in turn, an equal share of Count each.
	Packets []Packet `yaml:"packets"`
	// Count is the number of packets sent in a round (default 20,000).
	Count int `yaml:"count"`
}

// XDPMode is how an XDP program is attached to an interface.
type XDPMode string

// The two XDP modes that a veth has.
const (
	XDPNative  XDPMode = "native"
	XDPGeneric XDPMode = "generic"
)

// PerfEvent attaches a program to a perf event that samples a load.
type PerfEvent struct {
	// Event is the event's name as perf spells it (default cpu-clock).
	Event string `yaml:"event"`
	// Frequency is the number of samples asked for in a second. Period is
	// instead the number of events from one sample to the next.
	Frequency uint64 `yaml:"frequency"`
	Period    uint64 `yaml:"period"`
	// Scope is process (default: only the load) or all (every CPU).
	Scope Scope `yaml:"scope"`
	// Load is what is sampled.
	Load Load `yaml:"load"`
	// Window is how long a round samples (default 20 ms).
	Window Duration `yaml:"window"`
}

// Verify loads a program and does not run it: the figures that it has are what
// the verifier and the JIT make of it.
type Verify struct{}

// Scope is whose events a perf event counts.
type Scope string

// The scopes of a perf event.
const (
	ScopeProcess Scope = "process"
	ScopeAll     Scope = "all"
)

// Load is the work that a round drives a program with: one of a number of
// CPU-bound processes, a command, or a process that already exists.
type Load struct {
	CPU     int      `yaml:"cpu"`
	Command []string `yaml:"command"`
	PID     int      `yaml:"pid"`
}

// Duration is a time.Duration that reads and writes as text, such as 500ms.
type Duration time.Duration

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration such as 500ms or 2s", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the duration as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}
