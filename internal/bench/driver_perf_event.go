package bench

import (
	"cmp"
	"time"
)

// PerfEvent attaches a program to a perf event that samples a load.
type PerfEvent struct {
	// Event is the event's name as perf spells it (default cpu-clock).
	Event string `yaml:"event"`
	// Frequency is the number of samples requested per second. Period is alternatively the
	// number of events between samples.
	Frequency uint64 `yaml:"frequency"`
	Period    uint64 `yaml:"period"`
	// Scope is process (default: only the load) or all (every CPU).
	Scope Scope `yaml:"scope"`
	// Load is what is sampled.
	Load Load `yaml:"load"`
	// Window is how long a round samples (default 20 ms).
	Window Duration `yaml:"window"`
}

// Check implements Settings.
func (p *PerfEvent) Check(c Checker) {
	if p.Frequency != 0 && p.Period != 0 {
		c.Errorf("frequency and period exclude each other")
	}
	c.OneOf("scope", string(p.Scope), string(ScopeProcess), string(ScopeAll))
	c.Duration("window", p.Window, 10*time.Second)
	if c.Has("frequency") && p.Frequency == 0 || c.Has("period") && p.Period == 0 {
		c.Errorf("frequency and period must be more than 0")
	}
	loads := 0
	for _, set := range []bool{p.Load.CPU != 0, p.Load.Command != nil, p.Load.PID != 0} {
		if set {
			loads++
		}
	}
	load := c.Under("load")
	switch {
	case loads > 1:
		load.Errorf("load takes one of cpu, command, pid")
	case p.Load.Command != nil && (len(p.Load.Command) == 0 || p.Load.Command[0] == ""):
		load.Under("command").Errorf("the load's command is empty")
	case p.Load.PID < 0:
		load.Under("pid").Errorf("pid must be more than 0")
	}
	load.Count("cpu", p.Load.CPU, 1024)
}

// SetDefaults implements Settings.
func (p *PerfEvent) SetDefaults() {
	p.Event = cmp.Or(p.Event, "cpu-clock")
	if p.Period == 0 {
		p.Frequency = cmp.Or(p.Frequency, 9999)
	}
	p.Scope = cmp.Or(p.Scope, ScopeProcess)
	p.Window = cmp.Or(p.Window, Duration(20*time.Millisecond))
	if p.Load.Command == nil && p.Load.PID == 0 {
		p.Load.CPU = cmp.Or(p.Load.CPU, 1)
	}
}

// Scope is whose events a perf event counts.
type Scope string

// The scopes of a perf event.
const (
	ScopeProcess Scope = "process"
	ScopeAll     Scope = "all"
)

// Load is the work that a round drives a program with: a number of CPU-bound processes, a
// command, or an existing process. Only one of them is set.
type Load struct {
	CPU     int      `yaml:"cpu"`
	Command []string `yaml:"command"`
	PID     int      `yaml:"pid"`
}
