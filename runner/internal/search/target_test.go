package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/mutate"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	_ "github.com/org/ebpf-bench-action/runner/internal/driver/all"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// counted returns a program that counts the runs of a packet's first byte in a map, and
// takes as many turns of a loop.
func counted(m *ebpf.MapSpec) asm.Instructions {
	return slices.Concat(asm.Instructions{
		asm.Mov.Imm(asm.R0, 0),
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word), asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2), asm.Add.Imm(asm.R4, 1),
		asm.JGT.Reg(asm.R4, asm.R3, "out"),
		asm.LoadMem(asm.R6, asm.R2, 0, asm.Byte),
		// The key is the byte, after the length of a prefix for a trie.
		asm.Mov.Imm(asm.R2, 0), asm.StoreMem(asm.R10, -8, asm.R2, asm.DWord),
		asm.StoreMem(asm.R10, -int16(m.KeySize), asm.R6, asm.Byte),
	}, prefix(m), call(m, asm.FnMapLookupElem), asm.Instructions{
		asm.JEq.Imm(asm.R0, 0, "new"),
		asm.LoadMem(asm.R6, asm.R0, 0, asm.DWord), asm.Add.Imm(asm.R6, 1), asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
		asm.JGT.Imm(asm.R6, 20, "out"), // the verifier wants a bound
		asm.Sub.Imm(asm.R6, 1).WithSymbol("again"), asm.JSGT.Imm(asm.R6, 0, "again"),
		asm.Ja.Label("out"),
		asm.Mov.Imm(asm.R2, 1).WithSymbol("new"), asm.StoreMem(asm.R10, -16, asm.R2, asm.DWord),
	}, call(m, asm.FnMapUpdateElem), asm.Instructions{
		asm.Mov.Imm(asm.R0, 2).WithSymbol("out"), asm.Return(),
	})
}

func prefix(m *ebpf.MapSpec) asm.Instructions {
	if m.Type != ebpf.LPMTrie {
		return nil
	}
	return asm.Instructions{asm.StoreMem(asm.R10, -4, asm.R6, asm.Byte), asm.StoreImm(asm.R10, -8, 8, asm.Word)}
}

// call calls a helper with the map, the key at -8 or -4, and the value at -16.
func call(m *ebpf.MapSpec, f asm.BuiltinFunc) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -int32(m.KeySize)),
		asm.Mov.Reg(asm.R3, asm.R10), asm.Add.Imm(asm.R3, -16),
		asm.Mov.Imm(asm.R4, 0),
		asm.LoadMapPtr(asm.R1, 0).WithReference(m.Name),
		f.Call(),
	}
}

func open(t *testing.T, j *plan.Job) *Target {
	t.Helper()
	target, err := Open(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	if len(target.Warnings) > 0 {
		t.Errorf("warnings: %q", target.Warnings)
	}
	return target
}

// onThread runs a test where no signal interrupts a run.
func onThread(t *testing.T, test func()) {
	t.Helper()
	if err := thread.WithoutSignals(func() error { test(); return nil }); err != nil {
		t.Fatal(err)
	}
}

// No input finds what another left, in whatever map.
func TestInputsFindWhatWasPrepared(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	for _, m := range []ebpf.MapSpec{
		{Type: ebpf.Array, KeySize: 4, MaxEntries: 256},
		{Type: ebpf.Array, KeySize: 4, MaxEntries: 1 << 16},
		{Type: ebpf.Hash, KeySize: 4, MaxEntries: 4},
		{Type: ebpf.LRUHash, KeySize: 4, MaxEntries: 64},
		{Type: ebpf.PerCPUHash, KeySize: 4, MaxEntries: 4},
		{Type: ebpf.PerCPUArray, KeySize: 4, MaxEntries: 256},
		{Type: ebpf.LPMTrie, KeySize: 8, MaxEntries: 4, Flags: 1},
	} {
		t.Run(m.Type.String(), func(t *testing.T) {
			m.Name, m.ValueSize = "state", 8
			j := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: counted(&m)}, bench.Benchmark{})
			j.Spec.Maps["state"] = &m
			target := open(t, j)
			if target.Alive == nil || slices.Contains(target.Alive[0], false) {
				t.Errorf("not all blocks are alive: %v", target.Alive)
			}
			packet := func(first byte) []byte {
				frame := slices.Clone(mutate.Frames()[0])
				frame[0] = first
				return frame
			}
			total := func(in *Input) (digest, total uint64) {
				t.Helper()
				digest, err := target.Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				return digest, target.Counts().Total()
			}
			onThread(t, func() {
				one := &Input{Packets: [][]byte{packet(7)}}
				two := &Input{Packets: [][]byte{packet(7), packet(7), packet(7)}}
				path, first := total(one)
				for range 20 {
					if _, n := total(two); n <= 3*first {
						t.Errorf("three runs execute %d instructions, and one %d", n, first)
					}
					if again, n := total(one); n != first || again != path {
						t.Errorf("a run executes %d instructions, and did %d", n, first)
					}
				}
				if want := target.Keys; len(want) != 1 || want[0].Map != "state" || target.ValueSize("state") != 8 {
					t.Fatalf("keys %v, values of %d bytes", target.Keys, target.ValueSize("state"))
				}
				filled := &Input{Packets: one.Packets, Entries: slices.Clone(target.Keys)}
				filled.Entries[0].Value = binary.NativeEndian.AppendUint64(nil, 9)
				if _, n := total(filled); n <= first+10 {
					t.Errorf("a run that finds 9 in the map executes %d instructions, one that finds nothing %d", n, first)
				}
				if again, n := total(one); n != first || again != path {
					t.Errorf("a run after it executes %d instructions, and did %d", n, first)
				}
				if sure, err := target.Confirm(t.Context(), one); err != nil || sure != path {
					t.Errorf("with everything restored: %x (%v), want %x", sure, err, path)
				}
				if got := target.Retvals(); !slices.Equal(got, []uint32{2}) {
					t.Errorf("returned %v", got)
				}
			})
		})
	}
}

// A target counts what bpf-insns does.
func TestTargetsCountAsBenchmarksDo(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	suite := "version: 1\nobjects: [fun_xdp/fun_xdp_bpfel.o, work/work_bpfel.o]\nbenchmarks:\n"
	for _, name := range []string{"fun_xdp_basic", "fun_xdp_fibonacci", "fun_xdp_fibonacci_slow", "fun_xdp_fizzbuzz", "work_xdp", "work_raw_tp"} {
		suite += fmt.Sprintf("  - {name: %s, program: %[1]s, test_run: {repeat: 1}, state: fresh}\n", name)
	}
	for _, j := range plantest.Of(t, suite).Jobs {
		target, err := Open(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		defer target.Close()
		want, err := count.Count(t.Context(), j, nil, count.Like{})
		if err != nil {
			t.Fatal(err)
		}
		onThread(t, func() {
			if _, err := target.Run(t.Context(), &Input{Packets: j.Frames}); err != nil {
				t.Fatal(err)
			}
			if got := float64(target.Counts().Total()); got != want.Sample().Values[0] {
				t.Errorf("%s: got %g, want %v", j.Name, got, want.Sample().Values)
			}
		})
	}
}

// What the kernel does not run is told from what fails otherwise.
func TestRefusedInputs(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	target := open(t, plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: plantest.Returns(2)}, bench.Benchmark{}))
	_, err := target.Run(t.Context(), &Input{Packets: [][]byte{make([]byte, 13)}})
	if refused := (*RefusedError)(nil); !errors.As(err, &refused) {
		t.Errorf("a packet of 13 bytes: %v", err)
	}
	_, err = Open(t.Context(), plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: plantest.Returns(2)}, bench.Benchmark{Verify: &bench.Verify{}}))
	if err == nil || bench.Hint(err) == "" {
		t.Errorf("a program that is only loaded: %v", err)
	}
}

// Operands are those of each jump that was reached.
func TestOperandsOfJumps(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	target := open(t, plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word), asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2), asm.Add.Imm(asm.R4, 4),
		asm.Mov.Imm(asm.R0, 2),
		asm.JGT.Reg(asm.R4, asm.R3, "out"),
		asm.LoadMem(asm.R5, asm.R2, 0, asm.Word),
		asm.JNE.Imm32(asm.R5, 0x1234, "out"),
		asm.JNE.Imm(asm.R5, 0x77, "out"),
		asm.Return().WithSymbol("out"),
	}}, bench.Benchmark{}))
	onThread(t, func() {
		got, err := target.Operands(t.Context(), &Input{Packets: [][]byte{slices.Concat([]byte{1, 2, 3, 4}, make([]byte, 60))}})
		want := Operands{Dst: uint64(binary.NativeEndian.Uint32([]byte{1, 2, 3, 4})), Src: 0x1234, Constant: true, Word: true}
		if err != nil || len(got) != 2 || got[1] != want {
			t.Errorf("got %+v (%v), want %+v last", got, err, want)
		}
	})
}

func BenchmarkRun(b *testing.B) {
	m := ebpf.MapSpec{Name: "state", Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 64}
	j := plantest.Job(b, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: counted(&m)}, bench.Benchmark{})
	j.Spec.Maps["state"] = &m
	target, err := Open(b.Context(), j)
	if err != nil {
		b.Fatal(err)
	}
	defer target.Close()
	in := &Input{Packets: mutate.Frames()[:1]}
	err = thread.WithoutSignals(func() error {
		for b.Loop() {
			if _, err := target.Run(b.Context(), in); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
