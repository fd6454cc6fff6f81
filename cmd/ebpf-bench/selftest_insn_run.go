package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/oracle"
	"github.com/org/ebpf-bench-action/internal/workload"
	"github.com/org/ebpf-bench-action/runner"
)

// pinToCPU keeps the caller on one CPU: maps have values for each, and programs
// may ask which it is.
func pinToCPU() (cpu uint32, release func(), err error) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return 0, nil, fmt.Errorf("ask which CPUs there are: %w", err)
	}
	n := 0
	for !before.IsSet(n) {
		n++
	}
	one.Set(n)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		runtime.UnlockOSThread()
		return 0, nil, fmt.Errorf("stay on CPU %d: %w", n, err)
	}
	return uint32(n), func() {
		_ = unix.SchedSetaffinity(0, &before)
		runtime.UnlockOSThread()
	}, nil
}

// insnInput is what a program is run on.
type insnInput struct{ data, context []byte }

// inputsOf are what BPF_PROG_TEST_RUN gives to programs of a type, none where
// it cannot run them.
func inputsOf(t ebpf.ProgramType) (list []insnInput) {
	switch t {
	case ebpf.XDP, ebpf.SchedCLS, ebpf.SchedACT, ebpf.SocketFilter, ebpf.CGroupSKB,
		ebpf.LWTIn, ebpf.LWTOut, ebpf.LWTXmit, ebpf.LWTSeg6Local, ebpf.FlowDissector:
		for _, frame := range testFrames() {
			list = append(list, insnInput{data: frame})
		}
	case ebpf.RawTracepoint, ebpf.RawTracepointWritable, ebpf.Syscall:
		list = append(list, insnInput{context: make([]byte, 12*8)})
	}
	return list
}

// testFrames are of the usual protocols and of none.
func testFrames() [][]byte {
	v4 := &bench.IP{Src: addresses("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), TTL: 64}
	v6 := &bench.IP{Src: addresses("fd00::1"), Dst: netip.MustParseAddr("fd00::2"), TTL: 64}
	sizes := bench.Sizes{90, 1000}
	frames, err := workload.Packets([]bench.Packet{
		{IPv4: v4, UDP: &bench.UDP{Src: 1000, Dst: 53}, Sizes: sizes},
		{IPv4: v4, TCP: &bench.TCP{Src: 1000, Dst: 80, Flags: []string{"syn"}}, Sizes: sizes},
		{IPv6: v6, UDP: &bench.UDP{Src: 1000, Dst: 53}, Sizes: sizes},
		{IPv6: v6, TCP: &bench.TCP{Src: 1000, Dst: 443, Flags: []string{"ack"}}, Sizes: sizes},
		{Eth: &bench.Eth{VLAN: 7}, IPv4: v4, UDP: &bench.UDP{Src: 1, Dst: 2}, Sizes: sizes},
		{Eth: &bench.Eth{Type: 0x88b5}, Sizes: bench.Sizes{60}},
	}, nil)
	if err != nil {
		panic(err) // they are constant
	}
	noise := make([]byte, 200)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	return append(frames, make([]byte, 64), noise)
}

func addresses(s string) bench.AddrRange {
	a := netip.MustParseAddr(s)
	return bench.AddrRange{First: a, Last: a}
}

// insnRun is what is seen of a run from outside.
type insnRun struct {
	retval uint32
	data   []byte
	err    string
}

func (r insnRun) equal(o insnRun) bool {
	return r.retval == o.retval && r.err == o.err && bytes.Equal(r.data, o.data)
}

func (r insnRun) String() string {
	if r.err != "" {
		return r.err
	}
	return fmt.Sprintf("return value %#x and %d bytes", r.retval, len(r.data))
}

// insnPass is a run on each input, from the same start.
type insnPass struct {
	runs    []insnRun
	counts  []*insn.Counts // of the pass, after each run
	entered uint64
	alone   bool // nothing else can enter the program
}

// passes runs a program on each input, n times, from maps that hold the same each
// time.
func (t *insnTest) passes(spec *ebpf.CollectionSpec, table *insn.Table, program string, inputs []insnInput, n int) (passes []*insnPass, err error) {
	var l *loadedSpec
	defer func() { l.unload() }()
	for range n {
		if l == nil || l.restore() != nil {
			l.unload()
			if l, err = t.loadFresh(spec); err != nil {
				return nil, err
			}
		}
		pass, err := runInputs(l.coll, table, program, inputs)
		if err != nil {
			return nil, err
		}
		passes = append(passes, pass)
	}
	return passes, nil
}

// loadedSpec is a loaded collection with what its maps held then, nil where that
// cannot be told.
type loadedSpec struct {
	coll     *ebpf.Collection
	snapshot *runner.Snapshot
}

func (t *insnTest) loadFresh(spec *ebpf.CollectionSpec) (*loadedSpec, error) {
	coll, err := t.load(spec)
	if err != nil {
		return nil, err
	}
	l := &loadedSpec{coll: coll}
	if l.snapshot, err = runner.TakeSnapshot(coll); err != nil && !errors.Is(err, runner.ErrNoSnapshot) {
		l.unload()
		return nil, err
	}
	return l, nil
}

func (l *loadedSpec) restore() error {
	if l.snapshot == nil {
		return runner.ErrNoSnapshot
	}
	return l.snapshot.Restore()
}

func (l *loadedSpec) unload() {
	if l == nil {
		return
	}
	if l.snapshot != nil {
		l.snapshot.Close()
	}
	unload(l.coll)
}

// runInputs runs a loaded program on each input, from counters of 0.
func runInputs(coll *ebpf.Collection, table *insn.Table, program string, inputs []insnInput) (*insnPass, error) {
	pass := &insnPass{alone: len(coll.Programs) == 1}
	p := coll.Programs[program]
	before, err := p.Stats()
	if err != nil {
		return nil, fmt.Errorf("read statistics: %w", err)
	}
	if table != nil {
		if err := table.Reset(coll); err != nil {
			return nil, err
		}
	}
	for _, in := range inputs {
		pass.runs = append(pass.runs, in.run(p))
		if table != nil {
			counts, err := table.Read(coll)
			if err != nil {
				return nil, err
			}
			pass.counts = append(pass.counts, counts)
		}
	}
	after, err := p.Stats()
	if err != nil {
		return nil, fmt.Errorf("read statistics: %w", err)
	}
	pass.entered = after.RunCount - before.RunCount
	return pass, nil
}

// run runs a program once.
func (in insnInput) run(p *ebpf.Program) (r insnRun) {
	var err error
	if in.context != nil {
		r.retval, err = p.Run(&ebpf.RunOptions{Context: in.context})
	} else {
		r.retval, r.data, err = p.Test(in.data)
	}
	if err != nil {
		return insnRun{err: err.Error()}
	}
	return r
}

// runAll runs a program without counters and with, and compares.
func (t *insnTest) runAll(spec *ebpf.CollectionSpec, variants []*insnVariant, p *insnProgram) {
	inputs := inputsOf(spec.Programs[p.Program].Type)
	if len(inputs) == 0 {
		p.NotRun = "BPF_PROG_TEST_RUN has no input for the type"
		return
	}
	without, err := t.passes(spec, nil, p.Program, inputs, 1)
	if err != nil {
		p.NotRun = err.Error()
		return
	}
	plain := without[0]
	if !slices.ContainsFunc(plain.runs, func(r insnRun) bool { return r.err == "" }) {
		p.NotRun = plain.runs[0].err
		return
	}
	var passes []*insnPass
	// The last one has a counter in every block.
	for i, n := range []int{t.repeat, 1} {
		more, err := t.passes(variants[i].spec, variants[i].table, p.Program, inputs, n)
		if err != nil {
			p.Mismatch = err.Error()
			return
		}
		passes = append(passes, more...)
	}
	for _, pass := range passes {
		for _, r := range pass.runs {
			p.Runs += ones(r.err == "")
		}
	}
	p.Mismatch = mismatch(plain, passes, p.Program, inputs)
	if p.Mismatch != "" {
		if helpers := volatileHelpers(spec); len(helpers) > 0 {
			p.Mismatch, p.Divergent = "", helpers
			return
		}
	}
	t.askOracle(spec, passes[0], inputs, p)
}

// mismatch is the first difference between passes, empty if there is none.
func mismatch(plain *insnPass, passes []*insnPass, program string, inputs []insnInput) string {
	first := passes[0]
	for i, pass := range passes {
		what := fmt.Sprintf("repeat %d", i+1)
		if i == len(passes)-1 {
			what = "a counter in every block"
		}
		for j := range inputs {
			if !pass.runs[j].equal(plain.runs[j]) {
				return fmt.Sprintf("%s, input %d: %s, without counters %s", what, j+1, pass.runs[j], plain.runs[j])
			}
			if at, a, b := unequal(first.counts[j], pass.counts[j], program); at >= 0 {
				return fmt.Sprintf("%s, input %d: instruction %d was executed %d times, in the first repeat %d", what, j+1, at, b, a)
			}
		}
		if runs := pass.counts[len(inputs)-1].Runs(program); pass.alone && runs != pass.entered {
			return fmt.Sprintf("%s: entered %d times by its counters, and by run_cnt %d", what, runs, pass.entered)
		}
	}
	return ""
}

// unequal is the first instruction of a program that two counts differ in. Their
// tables may have blocks of other counters.
func unequal(a, b *insn.Counts, program string) (at int, inA, inB uint64) {
	x, y := a.Instructions(program), b.Instructions(program)
	for i := range x {
		if x[i] != y[i] {
			return i, x[i], y[i]
		}
	}
	return -1, 0, 0
}

// answersVary are helpers whose answers no input fixes: by time, by chance, or by
// what else goes on.
var answersVary = []asm.BuiltinFunc{
	asm.FnKtimeGetNs, asm.FnKtimeGetBootNs, asm.FnKtimeGetCoarseNs, asm.FnKtimeGetTaiNs, asm.FnJiffies64,
	asm.FnGetPrandomU32, asm.FnGetSmpProcessorId, asm.FnGetCurrentPidTgid, asm.FnGetCurrentTask,
	asm.FnPerfEventRead, asm.FnPerfEventReadValue, asm.FnGetStack, asm.FnGetStackid, asm.FnGetTaskStack,
	asm.FnProbeRead, asm.FnProbeReadKernel, asm.FnProbeReadUser, asm.FnGetSocketCookie, asm.FnGetHashRecalc,
}

// volatileHelpers are those of them that programs call.
func volatileHelpers(spec *ebpf.CollectionSpec) (names []string) {
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			ins := &p.Instructions[i]
			if fn := asm.BuiltinFunc(ins.Constant); ins.IsBuiltinCall() && slices.Contains(answersVary, fn) {
				names = append(names, fn.String())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// askOracle runs the program in the interpreter as well.
func (t *insnTest) askOracle(spec *ebpf.CollectionSpec, pass *insnPass, inputs []insnInput, p *insnProgram) {
	m, err := oracle.New(spec)
	if err != nil {
		p.NoOracle = err.Error()
		return
	}
	for i, in := range inputs {
		if pass.runs[i].err != "" {
			continue
		}
		if in.context != nil {
			p.NoOracle = "programs without packets"
			return
		}
		want, err := m.Run(p.Program, oracle.Input{Data: in.data, CPU: t.cpu})
		switch {
		case errors.Is(err, oracle.ErrUnsupported):
			p.NoOracle = err.Error()
			return
		case err != nil:
			p.OracleMismatch = fmt.Sprintf("input %d: %v", i+1, err)
			return
		}
		p.OracleRuns++
		if p.OracleMismatch = unlikeOracle(pass, i, want, m, spec); p.OracleMismatch != "" {
			return
		}
	}
}

func unlikeOracle(pass *insnPass, i int, want oracle.Result, m *oracle.Machine, spec *ebpf.CollectionSpec) string {
	got := pass.runs[i]
	withMeta := append(slices.Clone(want.Meta), want.Data...)
	if got.retval != want.Retval || !bytes.Equal(got.data, want.Data) && !bytes.Equal(got.data, withMeta) {
		return fmt.Sprintf("input %d: %s, want return value %#x and %d bytes", i+1, got, want.Retval, len(want.Data))
	}
	for name := range spec.Programs {
		counts, executed := pass.counts[i].Instructions(name), m.Executed(name)
		for at := range counts {
			if counts[at] != executed[at] {
				return fmt.Sprintf("input %d: instruction %d of %s was executed %d times, want %d", i+1, at, name, counts[at], executed[at])
			}
		}
	}
	return ""
}
