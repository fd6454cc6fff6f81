package bench

import "slices"

// Sample is the whole set of repeated measurements of one measure.
type Sample struct {
	Measure Measure   `json:"measure"`
	Values  []float64 `json:"values"`
}

// Measure is a kind of measurement. Whether it is exact is part of it: a
// noiseless count needs no repeats and no statistics.
type Measure struct {
	Name      string    `json:"name"`
	Unit      string    `json:"unit"`
	Direction Direction `json:"direction"`
	Exact     bool      `json:"exact,omitempty"`
}

// Direction says which way a measure is better.
type Direction string

// The directions. The direction of a custom measure is unknown unless somebody specified
// it.
const (
	LowerIsBetter    Direction = "lower"
	HigherIsBetter   Direction = "higher"
	UnknownDirection Direction = "unknown"
)

// The measures of a timed run.
var (
	// Latency is the cost of a run, net of the floor: the time that the kernel charges to
	// the program less the time that it charges to the empty program.
	Latency = Measure{Name: "latency", Unit: "ns", Direction: LowerIsBetter}
	// LatencyRaw is run_time_ns/run_cnt as the kernel counts it.
	LatencyRaw = Measure{Name: "latency-raw", Unit: "ns", Direction: LowerIsBetter}
	// LatencyFloor is run_time_ns/run_cnt of the empty program.
	LatencyFloor = Measure{Name: "latency-floor", Unit: "ns", Direction: LowerIsBetter}
	// Contention is how much more a run costs when the program runs on all CPUs
	// concurrently, net of the floor in both cases.
	Contention = Measure{Name: "contention", Unit: "ns", Direction: LowerIsBetter}
	// Throughput is runs per second of driving the program, harness included.
	Throughput = Measure{Name: "throughput", Unit: "ops/s", Direction: HigherIsBetter}
)

// The measures of an exact run: machine instructions, counted and not timed.
var (
	// Instructions is what a run executes, net of the floor.
	Instructions = Measure{Name: "instructions", Unit: "instructions", Direction: LowerIsBetter, Exact: true}
	// InstructionsRaw includes the cost of counting a run.
	InstructionsRaw = Measure{Name: "instructions-raw", Unit: "instructions", Direction: LowerIsBetter, Exact: true}
	// InstructionsFloor is the count for the empty program.
	InstructionsFloor = Measure{Name: "instructions-floor", Unit: "instructions", Direction: LowerIsBetter, Exact: true}
	// InstructionsPath is what the event that triggers the program executes with the
	// program attached less what it executes without: the hook and the effects of the
	// program's verdict are part of it.
	InstructionsPath = Measure{Name: "instructions-path", Unit: "instructions", Direction: LowerIsBetter, Exact: true}
)

// BPFInsns is how many BPF instructions a run executes, including those of the programs
// that it tail calls: counted in the running kernel, in every mode. It shows changes of
// the program itself, whatever the CPU or the JIT make of it.
var BPFInsns = Measure{Name: "bpf-insns", Unit: "instructions", Direction: LowerIsBetter, Exact: true}

// BPFInsnsFirst is BPFInsns of the first run, which finds maps as the suite prepared
// them. A result has it if later runs execute another number.
var BPFInsnsFirst = Measure{Name: "bpf-insns-first", Unit: "instructions", Direction: LowerIsBetter, Exact: true}

// BPFInsnsAged is BPFInsns of a run that comes after very many others, 73,728 of a quick
// program. A result has it if what it executes has changed since the measured runs.
var BPFInsnsAged = Measure{Name: "bpf-insns-aged", Unit: "instructions", Direction: LowerIsBetter, Exact: true}

// BPFInsnsLater is how many BPF instructions the callbacks execute that are called after
// the run that asked for it, by timers, workqueues or tasks: the sum over callbacks of
// what a call executes, however many runs there are for each.
var BPFInsnsLater = Measure{Name: "bpf-insns-later", Unit: "instructions", Direction: LowerIsBetter, Exact: true}

// The measures of hardware counters, net of the floor, if the machine has them: what its
// CPU did in the kernel during a run by test_run.
var (
	// Cycles are the CPU's cycles at the frequency that it ran at.
	Cycles = Measure{Name: "cycles", Unit: "cycles", Direction: LowerIsBetter}
	// RetiredInstructions are the instructions that the CPU retired.
	RetiredInstructions = Measure{Name: "retired-instructions", Unit: "instructions", Direction: LowerIsBetter}
	// CacheMisses are the misses in the last level of cache.
	CacheMisses = Measure{Name: "cache-misses", Unit: "misses", Direction: LowerIsBetter}
	// TLBMisses are the misses of loads in the data TLB.
	TLBMisses = Measure{Name: "tlb-misses", Unit: "misses", Direction: LowerIsBetter}
)

// The static measures: what the kernel made of a program, before any run. They are sums
// over the program, its functions and the programs that it tail calls.
var (
	// VerifiedInsns is the number of instructions that the verifier processed, counting a
	// branch as often as it was visited (Linux 5.2).
	VerifiedInsns = Measure{Name: "verified-insns", Unit: "instructions", Direction: LowerIsBetter, Exact: true}
	// VerifierStates and VerifierPeakStates are the states that the verifier kept for the
	// program, in total and at one time (Linux 5.2).
	VerifierStates     = Measure{Name: "verifier-states", Unit: "states", Direction: LowerIsBetter, Exact: true}
	VerifierPeakStates = Measure{Name: "verifier-peak-states", Unit: "states", Direction: LowerIsBetter, Exact: true}
	// XlatedBytes is the size of the bytecode after the verifier has rewritten it,
	// JitedBytes that of the machine code.
	XlatedBytes = Measure{Name: "xlated-bytes", Unit: "bytes", Direction: LowerIsBetter, Exact: true}
	JitedBytes  = Measure{Name: "jited-bytes", Unit: "bytes", Direction: LowerIsBetter, Exact: true}
	// StackBytes is the stack that all functions use together (Linux 5.2).
	StackBytes = Measure{Name: "stack-bytes", Unit: "bytes", Direction: LowerIsBetter, Exact: true}
	// MapMemory is what the kernel charges for the program's maps.
	MapMemory = Measure{Name: "map-memory", Unit: "bytes", Direction: LowerIsBetter, Exact: true}
)

// The measures that only user space has.
var (
	// Allocs is how often an operation allocates memory on the heap. Go counts it.
	Allocs = Measure{Name: "allocs", Unit: "allocations", Direction: LowerIsBetter, Exact: true}
	// HeapBytes is how many bytes it allocates: a mean, which may vary a little.
	HeapBytes = Measure{Name: "heap-bytes", Unit: "bytes", Direction: LowerIsBetter}
)

// Class is how the values of a measure come about.
type Class int

// The classes.
const (
	// External values come from another tool.
	External Class = iota
	// Timed and Hardware values are the time of runs and what the CPU counts meanwhile, on
	// a host or under KVM.
	Timed
	Hardware
	// Machine values are the instructions that exact mode counts.
	Machine
	// Bytecode values are BPF instructions, in every mode.
	Bytecode
	// Static values come of loading a program, in every mode.
	Static
)

// running are the drivers that run programs, loading those that load them.
var (
	loading = Drivers()
	running = slices.DeleteFunc(Drivers(), func(d string) bool { return d == DriverVerify })
)

// A measureRow is what is known of a measure besides what results hold.
type measureRow struct {
	Measure
	class Class
	// drivers are those whose benchmarks can have it.
	drivers []string
	// perOp is its unit in the format of Go's benchmarks.
	perOp string
}

// measureRows are all measures, in the order of reports.
var measureRows = []measureRow{
	{Latency, Timed, append([]string{DriverGo, DriverCriterion}, running...), "ns/op"},
	{LatencyRaw, Timed, running, "raw-ns/op"},
	{LatencyFloor, Timed, running, "floor-ns/op"},
	{Contention, Timed, []string{DriverTestRun}, "contention-ns/op"},
	// The other drivers set the rate: their throughput would say nothing of the program.
	{Throughput, Timed, []string{DriverTestRun, DriverVeth}, "ops/s"},
	{Instructions, Machine, running, "instructions/op"},
	{InstructionsRaw, Machine, running, "raw-instructions/op"},
	{InstructionsFloor, Machine, running, "floor-instructions/op"},
	{InstructionsPath, Machine, []string{DriverVeth, DriverCommand}, "path-instructions/op"},
	{BPFInsns, Bytecode, running, "bpf-insns/op"},
	{BPFInsnsFirst, Bytecode, running, "bpf-insns-first"},
	{BPFInsnsAged, Bytecode, running, "bpf-insns-aged"},
	{BPFInsnsLater, Bytecode, running, "bpf-insns-later"},
	{Cycles, Hardware, running, "cycles/op"},
	{RetiredInstructions, Hardware, running, "retired-instructions/op"},
	{CacheMisses, Hardware, running, "cache-misses/op"},
	{TLBMisses, Hardware, running, "tlb-misses/op"},
	{VerifiedInsns, Static, loading, "verified-insns"},
	{VerifierStates, Static, loading, "verifier-states"},
	{VerifierPeakStates, Static, loading, "verifier-peak-states"},
	{XlatedBytes, Static, loading, "xlated-bytes"},
	{JitedBytes, Static, loading, "jited-bytes"},
	{StackBytes, Static, loading, "stack-bytes"},
	{MapMemory, Static, loading, "map-memory"},
	{Allocs, External, []string{DriverGo}, "allocs/op"},
	{HeapBytes, External, []string{DriverGo}, "B/op"},
}

// row returns the row of a measure, nil for one that a benchmark of another tool made up.
func row(measure string) *measureRow {
	i := slices.IndexFunc(measureRows, func(r measureRow) bool { return r.Name == measure })
	if i < 0 {
		return nil
	}
	return &measureRows[i]
}

// Measures returns the names of all measures, in the order of reports.
func Measures() (names []string) {
	for _, r := range measureRows {
		names = append(names, r.Name)
	}
	return names
}

// MeasuresOf returns the measures of a class, in the order of reports.
func MeasuresOf(c Class) (all []Measure) {
	for _, r := range measureRows {
		if r.class == c {
			all = append(all, r.Measure)
		}
	}
	return all
}

// MeasureNamed returns the measure with a name; ok is false if there is none.
func MeasureNamed(name string) (m Measure, ok bool) {
	if r := row(name); r != nil {
		return r.Measure, true
	}
	return Measure{}, false
}

// ClassOf returns the class of the measure with a name.
func ClassOf(measure string) Class {
	if r := row(measure); r != nil {
		return r.class
	}
	return External
}

// IsCustom reports whether a name is a benchmark's own measure, such as records/op, which
// is the unit that another tool gives.
func IsCustom(measure string) bool { return measure != "" && row(measure) == nil }

// CanMeasure reports whether benchmarks of a driver can have a measure in any mode. If the
// driver is empty, the program's type determines it.
func CanMeasure(driver, measure string) bool {
	r := row(measure)
	switch {
	case r == nil:
		return IsIngested(driver)
	case driver == "":
		return r.class != External
	}
	return slices.Contains(r.drivers, driver)
}

// Measures reports whether a mode has values of a measure.
func (m Mode) Measures(measure string) bool {
	switch ClassOf(measure) {
	case Bytecode, Static:
		return true
	case Machine:
		return m == ModeExact
	}
	return m != ModeExact
}

// Counted returns the unit in the words of a sentence: the instructions of the machine
// stand beside those of BPF.
func (m Measure) Counted() string {
	if ClassOf(m.Name) == Bytecode && m.Unit != "" {
		return "BPF " + m.Unit
	}
	return m.Unit
}

// PerOp returns the unit in the format of Go's benchmarks: one that benchstat knows, or a
// descriptive one.
func (m Measure) PerOp() string {
	if r := row(m.Name); r != nil {
		return r.perOp
	}
	return m.Name
}
