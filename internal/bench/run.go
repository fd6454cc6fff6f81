package bench

import "time"

// Run is everything that one invocation measured.
type Run struct {
	// Tool is the version of ebpf-bench that measured.
	Tool    string    `json:"tool"`
	Testbed Testbed   `json:"testbed"`
	Started time.Time `json:"started"`
	// Elapsed is the duration of the whole run, Measuring that of its measuring phase
	// alone, both in seconds; 0 in exact mode.
	Elapsed   float64 `json:"elapsed_s,omitempty"`
	Measuring float64 `json:"measuring_s,omitempty"`
	// Seed is the seed of the order of the rounds.
	Seed uint64 `json:"seed"`
	// Loads is how often each object was freshly loaded.
	Loads int `json:"loads"`
	// Partial says that the run ended early: the results hold what was measured until
	// then.
	Partial bool `json:"partial,omitempty"`
	// Shard is the part of the suite that was measured, nil for all of it.
	Shard *Shard `json:"shard,omitempty"`
	// Missing are the shards that the run lacks, if it was merged from others. It is
	// partial then.
	Missing Shards `json:"missing,omitempty"`
	// MissingKernels are kernels that were to be measured on beside this one, and have no
	// run, by the names of Testbed.Asked.
	MissingKernels []string `json:"missing_kernels,omitempty"`
	// NoBase says, in words, why no base was measured beside the run although one was asked
	// for.
	NoBase string `json:"no_base,omitempty"`
	// Workflow is the attempt of the GitHub workflow that measured, nil elsewhere.
	Workflow *Attempt `json:"workflow,omitempty"`
	// Thresholds is the file of thresholds that judged the run, by the name that the user
	// gave, empty for the built-in ones. It is for people: a file that a result names is
	// not opened.
	Thresholds string   `json:"thresholds,omitempty"`
	Results    []Result `json:"results"`
}

// Testbed is the machine and kernel that a run was measured on.
type Testbed struct {
	// Mode is how the kernel was run. Results of different modes are never compared.
	Mode Mode `json:"mode"`
	// Kernel is the release (uname -r), KernelBuild its version (uname -v).
	Kernel      string `json:"kernel"`
	KernelBuild string `json:"kernel_build"`
	// Asked is the name that selected the kernel, such as 6.12 or host, empty if unknown.
	// No number depends on it.
	Asked string `json:"asked,omitempty"`
	// ByDefault reports whether nobody named a kernel, so Asked is the default.
	ByDefault bool   `json:"by_default,omitempty"`
	Arch      string `json:"arch"`
	CPU       string `json:"cpu"`
	Cores     int    `json:"cores"`
	// Virtual is the hypervisor if there is one that identifies itself, else empty.
	Virtual string `json:"virtual,omitempty"`
	// QEMU is the version of the emulator, empty on a host.
	QEMU string `json:"qemu,omitempty"`
	// JIT is the value of net.core.bpf_jit_enable in words.
	JIT string `json:"jit"`
	// JITHarden is net.core.bpf_jit_harden, which makes programs slower.
	JITHarden bool `json:"jit_harden,omitempty"`
	// HardwareCounters are the events that the CPU counts and that results can have, by
	// the names of their measures.
	HardwareCounters []string `json:"hardware_counters,omitempty"`
	// Mitigations are the CPU vulnerabilities that the kernel mitigates, by name, because
	// retpolines and the like are part of the cost of a run.
	Mitigations map[string]string `json:"mitigations,omitempty"`
}

// Mode is how the kernel that measured was run.
type Mode string

// The modes. In ModeExact the clock of a virtual machine counts instructions.
const (
	ModeHost  Mode = "host"
	ModeExact Mode = "exact"
	ModeKVM   Mode = "kvm"
)

// Result is what was measured for one benchmark.
type Result struct {
	Benchmark string `json:"benchmark"`
	Driver    string `json:"driver"`
	// Object is the object's path in the suite, ObjectSHA256 its digest in hex.
	Object       string `json:"object"`
	ObjectSHA256 string `json:"object_sha256,omitempty"`
	Program      string `json:"program"`
	// Type is the program's type in the kernel's spelling, such as xdp.
	Type string `json:"type,omitempty"`
	// Source is where the program's function is defined, nil if unknown.
	Source *Source `json:"source,omitempty"`
	// Replaced are the functions of the program that freplace programs replaced.
	Replaced []Replaced `json:"replaced,omitempty"`
	// Fresh says on what a run would depend that the run before it left, if a call of
	// test_run made several: the packet, the context or both. Each had a call of its own
	// then, with the input of the suite. It is empty if they do not depend on it.
	Fresh string `json:"fresh,omitempty"`
	// Error says why nothing, or not everything, was measured.
	Error string `json:"error,omitempty"`
	// Hint says what to do about Error, Log is the verifier's output if it refused the
	// program.
	Hint string `json:"hint,omitempty"`
	Log  string `json:"log,omitempty"`
	// Warnings are what a reader must know to trust the values.
	Warnings []string `json:"warnings,omitempty"`
	// Alerts are the budgets that the values exceed. A judge adds them; measuring adds
	// none.
	Alerts []Alert `json:"alerts,omitempty"`
	// Rounds are the raw counters of each round, Floor those of the empty program of the
	// same type in the same rounds.
	Rounds Counters `json:"rounds"`
	Floor  Counters `json:"floor"`
	// Traffic accounts for the packets of an attached program.
	Traffic *Traffic `json:"traffic,omitempty"`
	// Exchanged accounts for what sockets did for the program to see.
	Exchanged *Exchanged `json:"exchanged,omitempty"`
	// Path is the cost of the program's events with and without it, in exact mode if the
	// driver can count it.
	Path *Path `json:"path,omitempty"`
	// Maps is how full the maps are that the program uses and whose entries come and go,
	// because its cost may depend on it.
	Maps []MapFill `json:"maps,omitempty"`
	// Retvals counts, by return value, the test_run calls that ended with it.
	Retvals map[uint32]uint64 `json:"retvals,omitempty"`
	// Kinds are the kinds of runs that the same input had, by return value and then by
	// BPF instructions, in runs that were counted one by one. There are none if all were
	// alike, or of too many kinds.
	Kinds []Kind `json:"kinds,omitempty"`
	// Later are the callbacks that something calls after the runs that asked for it. What
	// they execute is in no other figure.
	Later []Later `json:"later,omitempty"`
	// CPUs is on how many CPUs the program ran concurrently, 0 for one.
	CPUs int `json:"cpus,omitempty"`
	// Procs is on how many CPUs another tool says that it could run, 0 if it does not say.
	Procs   int      `json:"procs,omitempty"`
	Samples []Sample `json:"samples,omitempty"`
}

// Ended reports whether a benchmark has an outcome: a value, or an error.
func (r *Result) Ended() bool {
	return r.Error != "" || r.Rounds.Runs() > 0 || len(r.Samples) > 0
}

// Kind is what some runs have in common: how they ended, and what they executed.
type Kind struct {
	Retval   uint32 `json:"retval"`
	BPFInsns uint64 `json:"bpf_insns"`
	// Runs is how many of the counted runs were of this kind.
	Runs uint64 `json:"runs"`
}

// Later is a callback that is called after the run that asked for it.
type Later struct {
	Program  string `json:"program"`
	Function string `json:"function"`
	// By is what calls it: timer, workqueue or task.
	By string `json:"by"`
	// BPFInsns is the mean number of BPF instructions that a call executes, nil if it was
	// not called while runs were counted.
	BPFInsns *float64 `json:"bpf_insns,omitempty"`
}

// Alert is a budget that a value exceeds.
type Alert struct {
	// Measure is the name of the measure, Value its median, Limit what that must not
	// exceed or, if Under, not fall short of: both in the measure's unit.
	Measure string  `json:"measure"`
	Value   float64 `json:"value"`
	Limit   float64 `json:"limit"`
	Under   bool    `json:"under,omitempty"`
	// Severity is fail or warn.
	Severity string `json:"severity"`
}

// Sample returns the sample of one measure, or nil.
func (r *Result) Sample(name string) *Sample {
	for i := range r.Samples {
		if r.Samples[i].Measure.Name == name {
			return &r.Samples[i]
		}
	}
	return nil
}

// Counters are the kernel's own counters, one element per round. Exact mode keeps one
// round, which no interrupt disturbed.
type Counters struct {
	// Load is the index of the load of the objects that was measured.
	Load []int `json:"load,omitempty"`
	// RunTimeNS and RunCnt are the growth of run_time_ns and run_cnt.
	RunTimeNS []uint64 `json:"run_time_ns,omitempty"`
	RunCnt    []uint64 `json:"run_cnt,omitempty"`
	// WallNS is the time that driving the program took, in nanoseconds; it is
	// empty in exact mode.
	WallNS []uint64 `json:"wall_ns,omitempty"`
	// RecursionMisses is the total growth of recursion_misses (Linux 5.12).
	RecursionMisses uint64 `json:"recursion_misses,omitempty"`
}

// Add appends one round.
func (c *Counters) Add(load int, runTimeNS, runCnt, wallNS, recursionMisses uint64) {
	c.Load = append(c.Load, load)
	c.RunTimeNS = append(c.RunTimeNS, runTimeNS)
	c.RunCnt = append(c.RunCnt, runCnt)
	c.WallNS = append(c.WallNS, wallNS)
	c.RecursionMisses += recursionMisses
}

// Runs returns the number of runs in all rounds.
func (c *Counters) Runs() uint64 {
	var n uint64
	for _, v := range c.RunCnt {
		n += v
	}
	return n
}

// Traffic accounts for packets: Sent = Run + Dropped + Unaccounted.
type Traffic struct {
	Sent        uint64 `json:"sent"`
	Run         uint64 `json:"run"`
	Dropped     uint64 `json:"dropped"`
	Unaccounted int64  `json:"unaccounted"`
	// Sender is what produced the packets: live_frames or af_packet.
	Sender string `json:"sender"`
}

// MapFill is how full a map was.
type MapFill struct {
	Name string `json:"name"`
	// Type is the map's type in the kernel's spelling, such as lru_hash.
	Type string `json:"type"`
	// Entries is how many it held when it was prepared, before the program ran, After once
	// the program had run in its first load, Max how many it can hold.
	Entries uint32 `json:"entries"`
	After   uint32 `json:"after"`
	Max     uint32 `json:"max"`
}

// Exchanged accounts for messages and calls: Tried counts them all, Done those that were
// answered or succeeded, Runs how often the program ran for them. A message may be more than
// one run. Results of earlier versions have no runs.
type Exchanged struct {
	Tried uint64 `json:"tried"`
	Done  uint64 `json:"done"`
	Runs  uint64 `json:"runs,omitempty"`
}

// RunsEach returns how often the program ran for a message or call, in the mean, or 0 if
// that is unknown.
func (e *Exchanged) RunsEach() float64 {
	if e == nil || e.Tried == 0 {
		return 0
	}
	return float64(e.Runs) / float64(e.Tried)
}

// Path is the cost of events on their whole path through the kernel, including the hook:
// in instructions, because only exact mode counts it.
type Path struct {
	Events int `json:"events"`
	// Attached and Detached are the cost of that many events with the program attached and
	// without it.
	Attached uint64 `json:"attached"`
	Detached uint64 `json:"detached"`
}

// Cost returns how much more an event costs with the program attached. It is negative if
// the program saves the kernel more work than it makes, such as by dropping a packet.
func (p *Path) Cost() float64 {
	return (float64(p.Attached) - float64(p.Detached)) / float64(max(p.Events, 1))
}
