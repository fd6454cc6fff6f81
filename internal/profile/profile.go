// Package profile records where the threads of processes spend their time, in user space
// and in the kernel: running, asleep, waiting for disks, in page faults.
package profile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/symbol"
)

// Kind says what a sample stands for.
type Kind int

// The kinds of samples.
const (
	CPU    Kind = iota // a thread runs
	OffCPU             // a thread slept, or waited for a CPU
	Disk               // a request to a disk was answered
	Fault              // a page fault
	Kinds              // how many there are
)

// String returns the name of the kind, as --events takes it.
func (k Kind) String() string { return [...]string{"cpu", "off-cpu", "disk", "faults"}[k] }

// ParseKind returns the kind with a name.
func ParseKind(name string) (Kind, error) {
	for kind := range Kinds {
		if kind.String() == name {
			return kind, nil
		}
	}
	return 0, fmt.Errorf("unknown kind of event %q: there are cpu, off-cpu, disk and faults", name)
}

// Unwind says how the callers of a function are found.
type Unwind int

// The ways to find callers.
const (
	FramePointers Unwind = iota
	DWARF                // by .eh_frame, from a copy of the stack
)

var unwinds = [...]string{"frame-pointers", "dwarf"}

// String returns the name, as --unwind takes it.
func (u Unwind) String() string { return unwinds[u] }

// ParseUnwind returns the way with a name.
func ParseUnwind(name string) (Unwind, error) {
	i := slices.Index(unwinds[:], name)
	if i < 0 {
		return 0, fmt.Errorf("unknown way to unwind %q: there are frame-pointers and dwarf", name)
	}
	return Unwind(i), nil
}

// Profile is what was recorded.
type Profile struct {
	// Command is the command that was run, if one was, and PIDs the processes that ran
	// already; without either, all were recorded.
	Command []string
	PIDs    []int
	// Kernel is the release of the kernel, CPU the name of the processor.
	Kernel, CPU string
	Start       time.Time
	Duration    time.Duration
	// Frequency is that of the samples of a running thread, in Hz.
	Frequency int
	// Unwind is how callers in user space were found.
	Unwind Unwind
	// Sources says for each kind that was sampled where its samples come from.
	Sources map[Kind]string
	// Threads are in the order of their first sample, Samples in that of their time.
	Threads []*Thread
	Samples []Sample
	// Lost is how many samples left no record.
	Lost map[Kind]uint64
	// LostMappings is how many events about mappings were lost, so that addresses may have
	// no name, or a wrong one.
	LostMappings uint64
}

// Title returns what was recorded.
func (p *Profile) Title() string {
	switch {
	case len(p.Command) > 0:
		return strings.Join(p.Command, " ")
	case len(p.PIDs) > 0:
		return "process " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(p.PIDs)), ", "), "[]")
	}
	return "all processes"
}

// Thread is a thread that was sampled.
type Thread struct {
	PID, TID uint32
	Name     string // of the thread, at its last sample
	Process  string // the name of its process
}

// Sample is a sample of a thread.
type Sample struct {
	Kind   Kind
	Thread *Thread
	// Time is when it ended, since the start.
	Time time.Duration
	// Took is how long it took: for CPU the time between samples, for a Fault 0 if that is
	// unknown.
	Took time.Duration
	// Stack is the kernel's and the thread's, innermost first.
	Stack *Stack
	// Preempted: the thread, OffCPU, could have run.
	Preempted bool
	// Request is of Disk.
	Request *Request
	// Address is where a Fault happened, 0 if that is unknown; FromFile: for a page of a file.
	Address  uint64
	FromFile bool
}

// Request is one to a disk.
type Request struct {
	Major, Minor uint32
	Sector       uint64 // of 512 bytes
	Bytes        uint32
	Write        bool
}

// Stack is where a thread is. Equal stacks of a Profile are one.
type Stack struct {
	// Locations are innermost first: those of the kernel, and then those of the process.
	Locations []*Location
	// Cut: the stack was longer than what is recorded, or it does not lead to the start of
	// the thread, because functions keep no frame pointer, or nothing is known of them.
	Cut bool
}

// Location is an address of a program. Equal locations of a Profile are one.
type Location struct {
	// Module is the file that the address is in, by its path, or a name as [kernel].
	Module string
	// BuildID is that of the file, in hexadecimal, if it has one.
	BuildID string
	// Origin opens the files that the debug information names.
	Origin symbol.Origin
	// Address is the address in the file, as in its symbol table; in the kernel, and where
	// there is no file, it is that in memory.
	Address uint64
	Kernel  bool
	// Start and End are where the outermost function begins and ends, 0 if that is not known.
	Start, End uint64
	// Frames are innermost first, at least one: functions that were inlined, and at the end
	// the one that they were inlined to. Without a symbol the function's name is empty.
	Frames []Frame
	number uint64 // among those of the profile
}

// Frame is a function at a location.
type Frame = symbol.Frame
