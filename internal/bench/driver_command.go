package bench

import (
	"cmp"
	"slices"
	"time"
)

// Command attaches a tracing program to its hook and triggers the hook.
type Command struct {
	// Attach is the hook, spelled like the section of an object, such as kprobe/vfs_read.
	// The default is the program's own section.
	Attach string `yaml:"attach"`
	// Run is a command with its arguments, run once per round.
	Run []string `yaml:"run"`
	// Load is alternatively a built-in load, one of Loads. The default suits the hook.
	Load string `yaml:"load"`
	// Syscall is the system call of the load syscalls, by its name (default
	// getppid).
	Syscall string `yaml:"syscall"`
	// Count is how often a round repeats the load (default 1,000; 20 forks; 10 mixtures;
	// an iterator is read once).
	Count int `yaml:"count"`
	// Timeout is how long Run may take per round (default 10 s).
	Timeout Duration `yaml:"timeout"`
	// With names other tracing programs of the object, attached to the hooks that their
	// sections name as long as the program is. They use the same maps.
	With []string `yaml:"with"`
}

// Check implements Settings.
func (m *Command) Check(c Checker) {
	for i, name := range m.With {
		if name == "" || slices.Contains(m.With[:i], name) {
			c.Under("with", i).Errorf("with has an empty name, or one twice")
		}
	}
	switch {
	case m.Run != nil && (len(m.Run) == 0 || m.Run[0] == ""):
		c.Under("run").Errorf("the command is empty")
	case m.Run != nil && (m.Load != "" || m.Syscall != ""):
		c.Errorf("run and load exclude each other")
	case m.Run != nil && m.Count != 0:
		c.Under("count").Errorf("count applies to a load: a command is run once a round")
	case m.Syscall != "" && m.Load != "" && m.Load != LoadSyscalls:
		c.Under("syscall").Errorf("syscall applies to the load syscalls, not to %s", m.Load)
	case m.Run == nil && m.Timeout != 0:
		c.Under("timeout").Errorf("timeout applies to run: a load has none")
	}
	if m.Load == "" && c.Has("load") {
		c.Under("load").Errorf("load is empty: leave it out for the one that suits the hook")
	}
	c.OneOf("load", m.Load, Loads...)
	c.Count("count", m.Count, 10_000_000)
	c.Duration("timeout", m.Timeout, time.Hour)
}

// SetDefaults implements Settings.
func (m *Command) SetDefaults() { m.Timeout = cmp.Or(m.Timeout, Duration(10*time.Second)) }

// The built-in loads for tracing programs.
const (
	// LoadSyscalls makes a system call.
	LoadSyscalls = "syscalls"
	// LoadSwitches has two processes take turns, with two switches per turn.
	LoadSwitches = "switches"
	// LoadFaults touches pages of memory that are not mapped yet.
	LoadFaults = "faults"
	// LoadReads and LoadWrites read and write a page of a file in memory.
	LoadReads  = "reads"
	LoadWrites = "writes"
	// LoadForks starts a process that executes a program and ends.
	LoadForks = "forks"
	// LoadSignals sends a thread a signal that has a handler.
	LoadSignals = "signals"
	// LoadSockets exchanges a message over a new TCP connection and another one by UDP, in
	// a network of its own.
	LoadSockets = "sockets"
	// LoadMixture does what each of the others does, with each harmless system call.
	LoadMixture = "mixture"
)

// Loads are the names of all loads for tracing programs.
var Loads = []string{
	LoadSyscalls, LoadSwitches, LoadFaults, LoadReads, LoadWrites, LoadForks, LoadSignals, LoadSockets, LoadMixture,
}
