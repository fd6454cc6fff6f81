package runner

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/insntest"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
)

// corpusInput is the input of a run.
type corpusInput struct{ data, context []byte }

// inputsOf returns the inputs that BPF_PROG_TEST_RUN takes for programs of type
// t, none if it cannot run them.
func inputsOf(t ebpf.ProgramType) (list []corpusInput) {
	switch t {
	case ebpf.XDP, ebpf.SchedCLS, ebpf.SchedACT, ebpf.SocketFilter, ebpf.CGroupSKB,
		ebpf.LWTIn, ebpf.LWTOut, ebpf.LWTXmit, ebpf.LWTSeg6Local, ebpf.FlowDissector:
		for _, frame := range testFrames() {
			list = append(list, corpusInput{data: frame})
		}
	case ebpf.RawTracepoint, ebpf.RawTracepointWritable, ebpf.Syscall:
		list = append(list, corpusInput{context: make([]byte, 12*8)})
	}
	return list
}

// testFrames returns frames of the usual protocols and of none.
func testFrames() [][]byte {
	v4 := &bench.IP{Src: addresses("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), TTL: 64}
	v6 := &bench.IP{Src: addresses("fd00::1"), Dst: netip.MustParseAddr("fd00::2"), TTL: 64}
	sizes := bench.Sizes{90, 1000}
	frames, err := packet.Expand([]bench.Packet{
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

// corpusRun is the externally visible result of a run.
type corpusRun struct {
	retval uint32
	data   []byte
	err    string
}

func (r corpusRun) equal(o corpusRun) bool {
	return r.retval == o.retval && r.err == o.err && bytes.Equal(r.data, o.data)
}

func (r corpusRun) String() string {
	if r.err != "" {
		return r.err
	}
	return fmt.Sprintf("return value %#x and %d bytes", r.retval, len(r.data))
}

// corpusPass is a run on each input, from the same initial state.
type corpusPass struct {
	runs    []corpusRun
	counts  []*insn.Counts // of the pass, after each run
	entered uint64
	alone   bool // nothing else can enter the program
}

// passes runs a program on each input, n times, each time with the same initial
// contents of maps.
func (c *corpusTest) passes(spec *ebpf.CollectionSpec, table *insn.Table, program string, inputs []corpusInput, n int) (passes []*corpusPass, err error) {
	// The kernel does not count when a program enters itself.
	tailCalls := slices.ContainsFunc(spec.Programs[program].Instructions, func(ins asm.Instruction) bool {
		return ins.IsBuiltinCall() && asm.BuiltinFunc(ins.Constant) == asm.FnTailCall
	})
	var l *loadedSpec
	defer func() { l.unload() }()
	for range n {
		if l == nil || l.restore() != nil {
			l.unload()
			if l, err = c.loadFresh(spec); err != nil {
				return nil, err
			}
		}
		pass, err := runInputs(l.coll, table, program, inputs, tailCalls)
		if err != nil {
			return nil, err
		}
		passes = append(passes, pass)
	}
	return passes, nil
}

// loadedSpec is a loaded collection with the initial contents of its maps, nil
// if they cannot be read.
type loadedSpec struct {
	coll     *ebpf.Collection
	snapshot *snapshot
}

func (c *corpusTest) loadFresh(spec *ebpf.CollectionSpec) (*loadedSpec, error) {
	coll, err := c.load(spec)
	if err != nil {
		return nil, err
	}
	l := &loadedSpec{coll: coll}
	if l.snapshot, err = takeSnapshot(coll); err != nil && !errors.Is(err, errNoSnapshot) {
		l.unload()
		return nil, err
	}
	return l, nil
}

func (l *loadedSpec) restore() error {
	if l.snapshot == nil {
		return errNoSnapshot
	}
	return l.snapshot.restore()
}

func (l *loadedSpec) unload() {
	if l == nil {
		return
	}
	if l.snapshot != nil {
		l.snapshot.close()
	}
	unload(l.coll)
}

// runInputs runs a loaded program on each input, with counters starting at 0.
func runInputs(coll *ebpf.Collection, table *insn.Table, program string, inputs []corpusInput, tailCalls bool) (*corpusPass, error) {
	pass := &corpusPass{alone: len(coll.Programs) == 1 && !tailCalls}
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
func (in corpusInput) run(p *ebpf.Program) (r corpusRun) {
	var err error
	if in.context != nil {
		r.retval, err = p.Run(&ebpf.RunOptions{Context: in.context})
	} else {
		r.retval, r.data, err = p.Test(in.data)
	}
	if err != nil {
		return corpusRun{err: err.Error()}
	}
	return r
}

// runAll runs a program with and without counters, and compares.
func (c *corpusTest) runAll(spec *ebpf.CollectionSpec, p *corpusProgram) {
	inputs := inputsOf(spec.Programs[p.program].Type)
	if len(inputs) == 0 {
		return
	}
	without, err := c.passes(spec, nil, p.program, inputs, 1)
	if err != nil {
		return
	}
	plain := without[0]
	if !slices.ContainsFunc(plain.runs, func(r corpusRun) bool { return r.err == "" }) {
		return
	}
	passes, err := c.passes(p.minimal.spec, p.minimal.table, p.program, inputs, c.repeat)
	for _, v := range []*variant{&p.logging, &p.everyBlock} {
		if err == nil && v.refused == nil {
			var more []*corpusPass
			more, err = c.passes(v.spec, v.table, p.program, inputs, 1)
			passes = append(passes, more...)
		}
	}
	if err != nil {
		p.mismatch = err.Error()
		return
	}
	for _, pass := range passes {
		for _, r := range pass.runs {
			if r.err == "" {
				p.runs++
			}
		}
	}
	p.mismatch = mismatch(plain, passes, p.program, inputs)
	if p.mismatch != "" {
		if helpers := volatileHelpers(spec); len(helpers) > 0 {
			p.mismatch, p.divergent = "", helpers
			return
		}
	}
	c.askOracle(spec, passes[0], inputs, p)
}

// mismatch describes the first difference between passes, or returns "".
func mismatch(plain *corpusPass, passes []*corpusPass, program string, inputs []corpusInput) string {
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

// unequal returns the first instruction of a program in which two counts
// differ. Their tables may place counters differently.
func unequal(a, b *insn.Counts, program string) (at int, inA, inB uint64) {
	x, y := a.Instructions(program), b.Instructions(program)
	for i := range x {
		if x[i] != y[i] {
			return i, x[i], y[i]
		}
	}
	return -1, 0, 0
}

// answersVary reports whether an instruction calls a helper whose answers no
// input fixes: they depend on time, on chance, or on other activity.
func answersVary(ins *asm.Instruction) (asm.BuiltinFunc, bool) {
	fn := asm.BuiltinFunc(ins.Constant)
	if !ins.IsBuiltinCall() {
		return fn, false
	}
	switch fn {
	case asm.FnKtimeGetNs, asm.FnKtimeGetBootNs, asm.FnKtimeGetCoarseNs, asm.FnKtimeGetTaiNs, asm.FnJiffies64,
		asm.FnGetPrandomU32, asm.FnGetSmpProcessorId, asm.FnGetCurrentPidTgid, asm.FnGetCurrentTask,
		asm.FnPerfEventRead, asm.FnPerfEventReadValue, asm.FnGetStack, asm.FnGetStackid, asm.FnGetTaskStack,
		asm.FnProbeRead, asm.FnProbeReadKernel, asm.FnProbeReadUser, asm.FnGetSocketCookie, asm.FnGetHashRecalc:
		return fn, true
	}
	return fn, false
}

// askOracle runs the program in the interpreter as well.
func (c *corpusTest) askOracle(spec *ebpf.CollectionSpec, pass *corpusPass, inputs []corpusInput, p *corpusProgram) {
	m, err := insntest.New(spec)
	if err != nil {
		return
	}
	for i, in := range inputs {
		if pass.runs[i].err != "" {
			continue
		}
		if in.context != nil {
			return
		}
		want, err := m.Run(p.program, insntest.Input{Data: in.data, CPU: c.cpu})
		switch {
		case errors.Is(err, insntest.ErrUnsupported):
			return
		case err != nil:
			p.oracleMismatch = fmt.Sprintf("input %d: %v", i+1, err)
			return
		}
		p.oracleRuns++
		if p.oracleMismatch = unlikeOracle(pass, i, want, m, spec); p.oracleMismatch != "" {
			return
		}
	}
}

func unlikeOracle(pass *corpusPass, i int, want insntest.Result, m *insntest.Machine, spec *ebpf.CollectionSpec) string {
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
