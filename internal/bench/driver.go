package bench

// The names of the drivers, in the suite file's spelling.
const (
	DriverTestRun   = "test_run"
	DriverVeth      = "veth"
	DriverPerfEvent = "perf_event"
	DriverCgroup    = "cgroup"
	DriverSocket    = "socket"
	DriverCommand   = "command"
	DriverVerify    = "verify"
)

// A driverRow is a driver, and where a benchmark has its settings.
type driverRow struct {
	name  string
	isSet func(*Benchmark) bool
	// set gives the benchmark the driver without settings, or takes it away.
	set func(b *Benchmark, on bool)
}

// driverRows are all drivers, in the order of the documentation.
var driverRows = []driverRow{
	settings(DriverTestRun, func(b *Benchmark) **TestRun { return &b.TestRun }),
	settings(DriverVeth, func(b *Benchmark) **Veth { return &b.Veth }),
	settings(DriverPerfEvent, func(b *Benchmark) **PerfEvent { return &b.PerfEvent }),
	settings(DriverCgroup, func(b *Benchmark) **Exchange { return &b.Cgroup }),
	settings(DriverSocket, func(b *Benchmark) **Exchange { return &b.Socket }),
	settings(DriverCommand, func(b *Benchmark) **Command { return &b.Command }),
	settings(DriverVerify, func(b *Benchmark) **Verify { return &b.Verify }),
}

func settings[T any](name string, of func(*Benchmark) **T) driverRow {
	return driverRow{
		name:  name,
		isSet: func(b *Benchmark) bool { return *of(b) != nil },
		set: func(b *Benchmark, on bool) {
			*of(b) = nil
			if on {
				*of(b) = new(T)
			}
		},
	}
}

// Drivers returns the names of all drivers, in the order of the documentation.
func Drivers() (names []string) {
	for _, d := range driverRows {
		names = append(names, d.name)
	}
	return names
}

// SetDrivers returns the names of the drivers that the benchmark sets, which should be at
// most one.
func (b *Benchmark) SetDrivers() (names []string) {
	for _, d := range driverRows {
		if d.isSet(b) {
			names = append(names, d.name)
		}
	}
	return names
}

// Driver returns the name of the benchmark's driver, empty if the program's type
// determines it.
func (b *Benchmark) Driver() string {
	for _, d := range driverRows {
		if d.isSet(b) {
			return d.name
		}
	}
	return ""
}

// SetDriver makes the named driver, without settings, the benchmark's only one.
func (b *Benchmark) SetDriver(name string) {
	for _, d := range driverRows {
		d.set(b, d.name == name)
	}
}

// TestRun drives a program by BPF_PROG_RUN. The defaults depend on the program's type.
type TestRun struct {
	// Packets are run in turn, each Repeat/len(Packets) times per round. For a sk_lookup
	// program, each one is a packet that looks for its socket.
	Packets []Packet `yaml:"packets"`
	// Context is what the program is called with, or what accompanies its packets.
	Context *Context `yaml:"context"`
	// Repeat is the number of runs per round. The default is 2,000, and 200 for a type
	// that the kernel runs once per call, or as many times these as take half a
	// millisecond where time is measured. In parallel it counts per CPU, and the default
	// is ten times as large.
	Repeat int `yaml:"repeat"`
}

// Context is the ctx_in of BPF_PROG_RUN: a structure that depends on the program's type,
// such as __sk_buff, or the arguments of a raw tracepoint.
type Context struct {
	// Hex are its first bytes, in hex digits.
	Hex string `yaml:"hex"`
	// Args are alternatively its 64-bit numbers, in the machine's byte order.
	Args []uint64 `yaml:"args"`
	// Size is its length in bytes, if it is longer; the rest is zeros.
	Size int `yaml:"size"`
}

// Veth attaches a program to a veth pair and sends packets from one end to the other.
type Veth struct {
	// Mode is how the program is attached. The default follows from its type and section:
	// native, tc or tcx.
	Mode VethMode `yaml:"mode"`
	// Direction is where a tc program is attached: to the ingress of the end that receives
	// the packets (default), or to the egress of the end that sends them.
	Direction Hook `yaml:"direction"`
	// Sender is what produces the packets: live_frames (Linux 5.18, for XDP), af_packet,
	// or empty for the fastest that the kernel has.
	Sender string `yaml:"sender"`
	// Packets are sent in turn, an equal share of Count each.
	Packets []Packet `yaml:"packets"`
	// Count is the number of packets per round (default 20,000 for an XDP program, else
	// 2,000).
	Count int `yaml:"count"`
}

// VethMode is how a program is attached to an end of a veth pair.
type VethMode string

// The modes: XDP in the driver or in the network stack, tc by a filter of the
// clsact qdisc or by a link (Linux 6.6).
const (
	XDPNative  VethMode = "native"
	XDPGeneric VethMode = "generic"
	TC         VethMode = "tc"
	TCX        VethMode = "tcx"
)

// IsTC reports whether the mode is one for tc programs.
func (m VethMode) IsTC() bool { return m == TC || m == TCX }

// Hook is the direction of the packets that a tc program sees.
type Hook string

// The hooks of tc.
const (
	Ingress Hook = "ingress"
	Egress  Hook = "egress"
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

// Verify loads a program and does not run it. It measures what the verifier and the JIT
// make of the program.
type Verify struct{}

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

// Exchange is messages that a process and its peer in another network namespace send each
// other over a veth pair. Each one is answered.
type Exchange struct {
	// Protocol is tcp or udp. The default is what the program's hook sees.
	Protocol Protocol `yaml:"protocol"`
	// Size is the size of a message and of its answer, in bytes (default 64).
	Size int `yaml:"size"`
	// Count is the number of messages per round (default 500).
	Count int `yaml:"count"`
	// Port is the port that messages are sent to (default 7, echo).
	Port int `yaml:"port"`
	// IPv6 sends them over IPv6. A hook for only one of the two sets it by itself.
	IPv6 bool `yaml:"ipv6"`
}

// Protocol is a transport protocol.
type Protocol string

// The protocols of an exchange.
const (
	ProtocolTCP Protocol = "tcp"
	ProtocolUDP Protocol = "udp"
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
