package insn

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/insn/insntest"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// xdp returns a spec of XDP programs with these instructions.
func xdp(programs map[string]asm.Instructions, maps ...*ebpf.MapSpec) *ebpf.CollectionSpec {
	spec := &ebpf.CollectionSpec{Programs: map[string]*ebpf.ProgramSpec{}, Maps: map[string]*ebpf.MapSpec{}}
	for name, insns := range programs {
		spec.Programs[name] = &ebpf.ProgramSpec{Name: name, Type: ebpf.XDP, Instructions: insns, License: "GPL"}
	}
	for _, m := range maps {
		spec.Maps[m.Name] = m
	}
	return spec
}

// A sample is a collection whose program main uses some feature, and how many
// instructions each of its programs executes in one run.
type sample struct {
	spec     *ebpf.CollectionSpec
	helper   asm.BuiltinFunc // the newest helper it calls, or 0
	executed map[string]uint64
}

// count returns a loop from n down to 0 in R6: 2 n + 1 instructions.
func count(label string, n int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R6, n),
		asm.Add.Imm(asm.R6, -1).WithSymbol(label),
		asm.JNE.Imm(asm.R6, 0, label),
	}
}

func join(parts ...asm.Instructions) asm.Instructions {
	var all asm.Instructions
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func samples() map[string]sample {
	pass := asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}
	all := map[string]sample{
		"a loop": {
			spec:     xdp(map[string]asm.Instructions{"main": join(count("loop", 10), pass)}),
			executed: map[string]uint64{"main": 1 + 2*10 + 2},
		},
		// The function's first instruction is executed three times, the
		// function once.
		"a loop to the start": {
			spec: xdp(map[string]asm.Instructions{"main": {
				asm.Mov.Imm(asm.R1, 3),
				asm.Call.Label("again"),
				asm.Return(),
				asm.Add.Imm(asm.R1, -1).WithSymbol("again"),
				asm.JNE.Imm(asm.R1, 0, "again"),
				asm.Mov.Imm(asm.R0, 2),
				asm.Return(),
			}}),
			executed: map[string]uint64{"main": 3 + 3*2 + 2},
		},
		// A 64-bit load is one instruction. The map's counter outlives the run.
		"a map": {
			spec: xdp(map[string]asm.Instructions{"main": {
				asm.StoreImm(asm.R10, -4, 0, asm.Word),
				asm.Mov.Reg(asm.R2, asm.R10),
				asm.Add.Imm(asm.R2, -4),
				asm.LoadMapPtr(asm.R1, 0).WithReference("seen"),
				asm.FnMapLookupElem.Call(),
				asm.JEq.Imm(asm.R0, 0, "end"),
				asm.Mov.Imm(asm.R1, 1),
				asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
				asm.Mov.Imm(asm.R0, 2).WithSymbol("end"),
				asm.Return(),
			}}, &ebpf.MapSpec{Name: "seen", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}),
			executed: map[string]uint64{"main": 10},
		},
		// The first tail call leads on, the second finds nothing.
		"tail calls": {
			spec: xdp(map[string]asm.Instructions{
				"main": {
					asm.LoadMapPtr(asm.R2, 0).WithReference("programs"),
					asm.Mov.Imm(asm.R3, 0),
					asm.FnTailCall.Call(),
					asm.Mov.Imm(asm.R0, 0),
					asm.Return(),
				},
				"next": {
					asm.LoadMapPtr(asm.R2, 0).WithReference("programs"),
					asm.Mov.Imm(asm.R3, 1),
					asm.FnTailCall.Call(),
					asm.Mov.Imm(asm.R0, 2),
					asm.Return(),
				},
			}, &ebpf.MapSpec{
				Name: "programs", Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 2,
				Contents: []ebpf.MapKV{{Key: uint32(0), Value: "next"}},
			}),
			executed: map[string]uint64{"main": 3, "next": 5},
		},
		"functions": {
			spec: xdp(map[string]asm.Instructions{"main": join(asm.Instructions{
				function("main", btf.GlobalFunc, 1, asm.Mov.Imm(asm.R1, 3)),
				asm.Call.Label("static"),
				asm.Mov.Imm(asm.R1, 4),
				asm.Mov.Imm(asm.R2, 5),
				asm.Call.Label("global"),
				asm.Return(),
				function("static", btf.StaticFunc, 1, asm.Mov.Reg(asm.R0, asm.R1)),
				asm.JGT.Imm(asm.R1, 5, "more"),
				asm.Add.Imm(asm.R0, 1),
				asm.Return().WithSymbol("more"),
				function("global", btf.GlobalFunc, 2, asm.Mov.Imm(asm.R0, 2)),
			}, count("loop", 3), asm.Instructions{asm.Return()})}),
			executed: map[string]uint64{"main": 6 + 4 + 1 + 7 + 1},
		},
		"a callback": {
			helper: asm.FnLoop,
			spec: xdp(map[string]asm.Instructions{"main": {
				function("main", btf.GlobalFunc, 1, asm.Mov.Imm(asm.R1, 7)),
				pointerTo("callback"),
				asm.Mov.Imm(asm.R3, 0),
				asm.Mov.Imm(asm.R4, 0),
				asm.FnLoop.Call(),
				asm.Mov.Imm(asm.R0, 2),
				asm.Return(),
				function("callback", btf.StaticFunc, 2, asm.Mov.Imm(asm.R0, 0)),
				asm.JNE.Imm(asm.R1, 4, "on"),
				asm.Mov.Imm(asm.R0, 1), // ends the loop, the fifth time
				asm.Return().WithSymbol("on"),
			}}),
			executed: map[string]uint64{"main": 7 + 4*3 + 4},
		},
	}
	all["all registers in use"] = crowded()
	return all
}

// crowded returns a loop in which R0 to R9 hold values that are read after it.
func crowded() sample {
	insns := asm.Instructions{asm.StoreImm(asm.R10, -8, 7, asm.Word)}
	for r := asm.R0; r <= asm.R9; r++ {
		insns = append(insns, asm.Mov.Imm(r, int32(r)+1))
	}
	insns = append(insns,
		asm.Add.Imm(asm.R0, 1).WithSymbol("loop"),
		asm.JSGT.Imm(asm.R0, 8, "end"),
		asm.Add.Imm(asm.R9, 1),
		asm.Ja.Label("loop"),
		asm.LoadMem(asm.R0, asm.R10, -8, asm.Word).WithSymbol("end"),
	)
	for r := asm.R1; r <= asm.R9; r++ {
		insns = append(insns, asm.Add.Reg(asm.R0, r))
	}
	insns = append(insns, asm.Return())
	return sample{
		spec:     xdp(map[string]asm.Instructions{"main": insns}),
		executed: map[string]uint64{"main": 11 + 7*4 + 2 + 1 + 9 + 1},
	}
}

// run runs a program on a packet.
func run(t testing.TB, p *ebpf.Program, packet []byte) (uint32, []byte) {
	t.Helper()
	ret, out, err := p.Test(bytes.Clone(packet))
	if err != nil {
		t.Fatal(err)
	}
	return ret, out
}

// instrumented loads a spec with counters.
func instrumented(t testing.TB, spec *ebpf.CollectionSpec, o Options) (*ebpf.Collection, *Table) {
	t.Helper()
	spec = spec.Copy()
	table, err := Instrument(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	coll, err := loadWithLog(t, spec)
	if err != nil {
		t.Fatal(brief(err))
	}
	return coll, table
}

// counted runs a program and returns its counts.
func counted(t testing.TB, coll *ebpf.Collection, table *Table, program string, packet []byte) (*Counts, uint32, []byte) {
	t.Helper()
	before, err := table.Read(coll)
	if err != nil {
		t.Fatal(err)
	}
	ret, out := run(t, coll.Programs[program], packet)
	after, err := table.Read(coll)
	if err != nil {
		t.Fatal(err)
	}
	return after.Sub(before), ret, out
}

// Each sample does the same with counters as without, and the counters count
// what it executes, every time, wherever they are.
func TestInstrumentedPrograms(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	packet := make([]byte, 64)
	for name, s := range samples() {
		t.Run(name, func(t *testing.T) {
			if err := features.HaveProgramHelper(ebpf.XDP, s.helper); s.helper != 0 && errors.Is(err, ebpf.ErrNotSupported) {
				t.Skipf("this kernel lacks %s", s.helper)
			}
			plain, err := loadWithLog(t, s.spec.Copy())
			if err != nil {
				t.Fatal(brief(err))
			}
			ret, out := run(t, plain.Programs["main"], packet)
			depths := map[string][]int{}
			for name, p := range plain.Programs {
				depths[name] = StackDepths(p.VerifierLog)
			}

			var per []*Counts
			for _, o := range []Options{{}, {Placement: EveryBlock}, {StackDepths: depths}, {Placement: EveryBlock, StackDepths: depths}, {Keys: true, Operands: true}, {Placement: EveryBlock, Keys: true, Operands: true}} {
				coll, table := instrumented(t, s.spec, o)
				first, gotRet, gotOut := counted(t, coll, table, "main", packet)
				if gotRet != ret || !bytes.Equal(gotOut, out) {
					t.Errorf("returns %d and %x, without counters %d and %x", gotRet, gotOut, ret, out)
				}
				for program, want := range s.executed {
					if got := first.Executed(program); got != want {
						t.Errorf("%s executed %d instructions, want %d", program, got, want)
					}
					if got := first.Runs(program); got != 1 {
						t.Errorf("%s ran %d times, want once", program, got)
					}
				}
				for i := range 99 {
					if again, _, _ := counted(t, coll, table, "main", packet); !again.Equal(first) {
						t.Fatalf("repeat %d counts otherwise", i+2)
					}
				}
				per = append(per, first)
			}
			if s.helper == 0 {
				agreesWithOracle(t, s, per[0], packet)
			}
			for _, c := range per[1:] {
				if !c.Equal(per[0]) {
					t.Error("counters in other places count otherwise")
				}
			}
		})
	}
}

// agreesWithOracle checks how often each instruction was executed.
func agreesWithOracle(t *testing.T, s sample, counts *Counts, packet []byte) {
	t.Helper()
	m, err := insntest.New(s.spec.Copy())
	if err != nil {
		t.Fatal(err)
	}
	if s.spec.Maps["programs"] != nil {
		if err := m.SetTail("programs", 0, "next"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Run("main", insntest.Input{Data: bytes.Clone(packet)}); err != nil {
		t.Fatal(err)
	}
	for program := range s.executed {
		if got, want := counts.Instructions(program), m.Executed(program); !slices.Equal(got, want) {
			t.Errorf("%s executed its instructions %v times, the oracle says %v", program, got, want)
		}
	}
}

func TestRegistersAreSavedWhereAllAreInUse(t *testing.T) {
	spec := crowded().spec
	if _, err := Instrument(spec, Options{Placement: EveryBlock}); err != nil {
		t.Fatal(err)
	}
	saved := false
	for _, ins := range spec.Programs["main"].Instructions {
		saved = saved || ins.OpCode == asm.StoreMemOp(asm.DWord) && ins.Dst == asm.R10 && ins.Offset == -16
	}
	if !saved {
		t.Error("no register is saved below the 8 bytes of stack that the program uses")
	}
}

// The counter of the entry agrees with the kernel.
func TestRunsAreWhatTheKernelCounts(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	testenv.Probe(t, "BPF_ENABLE_STATS")
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		t.Fatal(err)
	}
	defer stats.Close()
	for name, s := range samples() {
		if s.helper != 0 {
			continue
		}
		coll, table := instrumented(t, s.spec, Options{})
		if _, err := coll.Programs["main"].Run(&ebpf.RunOptions{Data: make([]byte, 64), Repeat: 1000}); err != nil {
			t.Fatal(err)
		}
		kernel, err := coll.Programs["main"].Stats()
		if err != nil {
			t.Fatal(err)
		}
		counts, err := table.Read(coll)
		if err != nil {
			t.Fatal(err)
		}
		if got := counts.Runs("main"); got != kernel.RunCount || got < 1000 {
			t.Errorf("%s: %d runs, the kernel counts %d", name, got, kernel.RunCount)
		}
	}
}

func TestReset(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	coll, table := instrumented(t, samples()["a loop"].spec, Options{})
	run(t, coll.Programs["main"], make([]byte, 64))
	if err := table.Reset(coll); err != nil {
		t.Fatal(err)
	}
	counts, err := table.Read(coll)
	if err != nil {
		t.Fatal(err)
	}
	if n := counts.Total(); n != 0 {
		t.Errorf("%d instructions are counted after a reset", n)
	}
}
