package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/mutate"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/plan/plantest"
)

// found searches without signals, from a plain packet.
func found(t testing.TB, ctx context.Context, target *Target, o Options) *Found {
	t.Helper()
	if o.Start = []Input{{Packets: mutate.Frames()[:1]}}; target.typ == ebpf.RawTracepoint {
		o.Start = []Input{{}}
	}
	var f *Found
	err := thread.WithoutSignals(func() (err error) {
		f, err = Search(ctx, target, o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Whatever the seed, few inputs are needed to find an address on which a program takes the
// most turns of its loop, and the packet is plain otherwise.
func TestTheWorstAddressIsFound(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	j := plantest.Of(t, plantest.Objects+"  - {name: x, program: fun_xdp_fibonacci_slow, test_run: {}}\n").Jobs[0]
	target := open(t, j)
	const address = 14 + 12 // of the source, behind the Ethernet header
	most := uint64(0)
	onThread(t, func() {
		for last := range 256 {
			packet := bytes.Clone(mutate.Frames()[0])
			packet[address+3] = byte(last)
			if _, err := target.Run(t.Context(), &Input{Packets: [][]byte{packet}}); err != nil {
				t.Fatal(err)
			}
			most = max(most, target.Counts().Total())
		}
	})
	for seed := range uint64(100) {
		f := found(t, t.Context(), target, Options{Runs: 999, Seed: seed})
		if f.Worst.Executed != most || f.Plain != f.Worst || f.Runs > 999 {
			t.Errorf("seed %d: found %d instructions in %d runs, and there are %d", seed, f.Worst.Executed, f.Runs, most)
		}
		packet := bytes.Clone(f.Worst.Packets[0])
		packet[address+3] = mutate.Frames()[0][address+3]
		if mutate.Complete(packet, true); !bytes.Equal(packet, mutate.Frames()[0]) {
			t.Errorf("seed %d: %x differs from a plain packet by more than the address", seed, f.Worst.Packets[0])
		}
	}
}

// costly is at the end of a program: what leads there costs most.
func costly(insns ...asm.Instructions) asm.Instructions {
	var all asm.Instructions
	for range 20 {
		all = append(all, asm.Mov.Imm(asm.R0, 1))
	}
	return slices.Concat(slices.Concat(insns...), all, asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return()})
}

// A search finds what leads to the costly end of a program, wherever that is given.
func TestWhatLeadsThereIsFound(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	data := asm.Instructions{ // R6 points to 64 bytes of the packet
		asm.LoadMem(asm.R6, asm.R1, 0, asm.Word), asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R6), asm.Add.Imm(asm.R4, 40),
		asm.JGT.Reg(asm.R4, asm.R3, "out"),
	}
	state := &ebpf.MapSpec{Name: "state", Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 16}
	const mark = 8
	for name, c := range map[string]struct {
		typ   ebpf.ProgramType
		insns asm.Instructions
		is    func(in *Input) bool
	}{
		"numbers in the packet": {ebpf.XDP, costly(data, asm.Instructions{
			asm.LoadMem(asm.R2, asm.R6, 20, asm.Word), asm.HostTo(asm.BE, asm.R2, asm.Word), asm.JNE.Imm32(asm.R2, 0x12345678, "out"),
			asm.LoadMem(asm.R2, asm.R6, 27, asm.Byte), asm.LoadMem(asm.R3, asm.R6, 26, asm.Byte), asm.JNE.Reg(asm.R2, asm.R3, "out"),
			asm.LoadMem(asm.R2, asm.R6, 24, asm.Half), asm.JLE.Imm(asm.R2, 60_000, "out"),
		}), func(in *Input) bool {
			p := in.Packets[0]
			return len(in.Packets) == 1 && binary.BigEndian.Uint32(p[20:]) == 0x12345678 && p[26] == p[27] && binary.NativeEndian.Uint16(p[24:]) > 60_000 && in.Context == nil && in.Entries == nil
		}},
		"a checksum": {ebpf.XDP, costly(data, asm.Instructions{ // of the header of IPv4
			asm.LoadMem(asm.R2, asm.R6, 14, asm.Byte), asm.JNE.Imm(asm.R2, 0x45, "out"),
			asm.LoadMem(asm.R2, asm.R6, 15, asm.Byte), asm.JNE.Imm(asm.R2, 0xb8, "out"), // its type of service
			asm.Mov.Imm(asm.R5, 0),
		}, sumOf(14, 34), asm.Instructions{
			asm.Mov.Reg(asm.R2, asm.R5), asm.RSh.Imm(asm.R2, 16), asm.And.Imm(asm.R5, 0xffff), asm.Add.Reg(asm.R5, asm.R2),
			asm.JNE.Imm(asm.R5, 0xffff, "out"),
		}), func(in *Input) bool { return in.Packets[0][15] == 0xb8 }},
		"the context": {ebpf.SchedCLS, costly(asm.Instructions{
			asm.LoadMem(asm.R2, asm.R1, mark, asm.Word), asm.JNE.Imm(asm.R2, 77_777, "out"),
		}), func(in *Input) bool { return binary.NativeEndian.Uint32(in.Context[mark:]) == 77_777 }},
		"arguments": {ebpf.RawTracepoint, costly(asm.Instructions{
			asm.LoadMem(asm.R2, asm.R1, 8, asm.DWord), asm.LoadImm(asm.R3, 1<<40+5, asm.DWord), asm.JNE.Reg(asm.R2, asm.R3, "out"),
		}), func(in *Input) bool { return binary.NativeEndian.Uint64(in.Context[8:]) == 1<<40+5 }},
		"an entry of a map": {ebpf.XDP, costly(data, asm.Instructions{
			asm.LoadMem(asm.R2, asm.R6, 20, asm.Word), asm.StoreMem(asm.R10, -4, asm.R2, asm.Word),
		}, call(state, asm.FnMapLookupElem), asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "out"),
			asm.LoadMem(asm.R2, asm.R0, 0, asm.DWord), asm.JNE.Imm(asm.R2, 1_000_000, "out"),
		}), func(in *Input) bool {
			return len(in.Entries) == 1 && bytes.Equal(in.Entries[0].Key, in.Packets[0][20:24]) && binary.NativeEndian.Uint64(in.Entries[0].Value) == 1_000_000
		}},
		"several packets": {ebpf.XDP, counted(state), func(in *Input) bool {
			return len(in.Packets) == MostPackets && in.Packets[0][0] == in.Packets[MostPackets-1][0] || len(in.Entries) == 1
		}},
	} {
		t.Run(name, func(t *testing.T) {
			j := plantest.Job(t, &ebpf.ProgramSpec{Type: c.typ, Instructions: c.insns}, bench.Benchmark{TestRun: &bench.TestRun{}})
			j.Spec.Maps["state"] = state
			f := found(t, t.Context(), open(t, j), Options{Runs: 100_000, Seed: 1})
			if f.Worst == nil || f.Reached.Len() != f.Alive.Len() {
				t.Fatalf("reached %d of %d blocks: %+v", f.Reached.Len(), f.Alive.Len(), f)
			}
			if !c.is(&f.Worst.Input) {
				t.Errorf("the worst input is %+v", f.Worst.Input)
			}
			if f.Default.Executed >= f.Worst.Executed || f.Before.Len() >= f.Reached.Len() {
				t.Errorf("the default input executes %d instructions, the worst %d; they reach %d and %d blocks", f.Default.Executed, f.Worst.Executed, f.Before.Len(), f.Reached.Len())
			}
			// The cover reaches all.
			left := slices.Clone(f.Reached)
			for _, k := range append(f.Cover, f.Default, f.Worst, f.Plain) {
				left.remove(k)
			}
			if left.Len() > 0 {
				t.Errorf("no input reaches %d of the blocks that were reached", left.Len())
			}
		})
	}
}

// sumOf adds the words of the packet from one byte to another to R5.
func sumOf(from, to int16) (insns asm.Instructions) {
	for ; from < to; from += 2 {
		insns = append(insns, asm.LoadMem(asm.R2, asm.R6, from, asm.Half), asm.Add.Reg(asm.R5, asm.R2))
	}
	return insns
}

// What one change does not lead to is found, too, while an input has more neighbours than a
// search tries.
func TestNeighboursAreNotAll(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	state := &ebpf.MapSpec{Name: "state", Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 16}
	insns := costly(asm.Instructions{
		asm.LoadMem(asm.R6, asm.R1, 0, asm.Word), asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R6), asm.Add.Imm(asm.R4, 64), asm.JGT.Reg(asm.R4, asm.R3, "out"),
		asm.Mov.Imm(asm.R5, 0),
	}, sumOf(0, 64), asm.Instructions{ // the path depends on every byte
		asm.Mov.Reg(asm.R2, asm.R5), asm.And.Imm(asm.R2, 1), asm.JEq.Imm(asm.R2, 0, "even"), asm.Mov.Imm(asm.R2, 1),
		asm.And.Imm(asm.R5, 0x100).WithSymbol("even"), asm.JEq.Imm(asm.R5, 0, "look"), asm.Mov.Imm(asm.R2, 1),
		asm.StoreImm(asm.R10, -4, 7, asm.Word).WithSymbol("look"),
	}, call(state, asm.FnMapLookupElem), asm.Instructions{asm.JEq.Imm(asm.R0, 0, "out")})
	j := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: insns}, bench.Benchmark{TestRun: &bench.TestRun{}})
	j.Spec.Maps["state"] = state
	if f := found(t, t.Context(), open(t, j), Options{Runs: 10_000, Seed: 1}); len(f.Worst.Entries) != 1 {
		t.Errorf("the worst input is %+v", f.Worst.Input)
	}
}

// The same seed finds the same.
func TestSearchesCanBeRepeated(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	m := &ebpf.MapSpec{Name: "state", Type: ebpf.LRUHash, KeySize: 4, ValueSize: 8, MaxEntries: 64}
	search := func(seed uint64) *Found {
		j := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: counted(m)}, bench.Benchmark{})
		j.Spec.Maps["state"] = m
		f := found(t, t.Context(), open(t, j), Options{Runs: 5000, Seed: seed})
		f.Refusal = nil
		return f
	}
	once, again, other := search(3), search(3), search(4)
	if !reflect.DeepEqual(once, again) {
		t.Errorf("got %+v, and then %+v", once, again)
	}
	if once.Refused == other.Refused {
		t.Error("another seed finds just the same")
	}
}

// What was found before the search was cancelled is returned.
func TestACancelledSearchReturnsWhatItFound(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	m := &ebpf.MapSpec{Name: "state", Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 64}
	j := plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: counted(m)}, bench.Benchmark{})
	j.Spec.Maps["state"] = m
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	f := found(t, ctx, open(t, j), Options{Seed: 1, Runs: 1 << 40, Progress: func(p Progress) {
		if told++; p.Blocks > 0 {
			cancel()
		}
	}})
	if told == 0 || f.Default == nil || f.Worst == nil || f.Runs < 1000 {
		t.Errorf("after %d inputs: %+v", f.Runs, f)
	}
}

// Where chance decides, that is said, and nothing is shown that another run would not do.
func TestChance(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	target := open(t, plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: asm.Instructions{
		asm.FnGetPrandomU32.Call(),
		asm.And.Imm(asm.R0, 7), asm.Add.Imm(asm.R0, 1),
		asm.Sub.Imm(asm.R0, 1).WithSymbol("again"), asm.JNE.Imm(asm.R0, 0, "again"),
		asm.Return(),
	}}, bench.Benchmark{}))
	f := found(t, t.Context(), target, Options{Runs: 2000})
	if f.Unsteady == 0 || f.Default != nil || f.Worst != nil || f.Plain != nil || len(f.Cover) > 0 || f.Reached.Len() != f.Alive.Len() {
		t.Errorf("got %+v", f)
	}
}

// The kernel's reason is kept if it runs nothing.
func TestNothingRuns(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	target := open(t, plantest.Job(t, &ebpf.ProgramSpec{Type: ebpf.XDP, Instructions: plantest.Returns(2)}, bench.Benchmark{}))
	target.typ = ebpf.FlowDissector // whose packets have no context
	target.counting.typ = ebpf.Tracing
	if f := found(t, t.Context(), target, Options{Runs: 100}); f.Worst != nil || f.Refused < 100 || f.Refusal == nil {
		t.Errorf("got %+v", f)
	}
}
