package insntest_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/insn/insntest"
)

// machine returns a machine with a single program and the generator's maps.
func machine(t *testing.T, typ ebpf.ProgramType, insns ...asm.Instruction) *insntest.Machine {
	t.Helper()
	m, err := insntest.New(&ebpf.CollectionSpec{
		Maps: generate(0, 1, oldest).Maps,
		Programs: map[string]*ebpf.ProgramSpec{
			"main": {Name: "main", Type: typ, Instructions: insns},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Instructions do what the kernel's documentation says.
func TestInstructions(t *testing.T) {
	const big = -1 << 31
	for _, c := range []struct {
		name  string
		insns asm.Instructions // leave a result in R0, from 7 in R1 and -7 in R2
		want  uint64
	}{
		{"a move of 32 bits zeroes the others", asm.Instructions{asm.Mov.Reg32(asm.R0, asm.R2)}, 0xfffffff9},
		{"a constant keeps its sign", asm.Instructions{asm.Mov.Imm(asm.R0, -1)}, 1<<64 - 1},
		{"division by zero", asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Mov.Imm(asm.R3, 0), asm.Div.Reg(asm.R1, asm.R3), asm.Mov.Reg(asm.R0, asm.R1)}, 0},
		{"remainder by zero", asm.Instructions{asm.Mov.Imm(asm.R3, 0), asm.Mod.Reg(asm.R1, asm.R3), asm.Mov.Reg(asm.R0, asm.R1)}, 7},
		{"division without a sign", asm.Instructions{asm.Mov.Reg(asm.R0, asm.R2), asm.Div.Imm(asm.R0, 7)}, (1<<64 - 7) / 7},
		{"division with a sign", asm.Instructions{asm.Mov.Reg(asm.R0, asm.R2), asm.SDiv.Imm(asm.R0, 2)}, 1<<64 - 3},
		{"remainder with a sign", asm.Instructions{asm.Mov.Reg(asm.R0, asm.R2), asm.SMod.Imm(asm.R0, 4)}, 1<<64 - 3},
		{"the division that overflows", asm.Instructions{asm.Mov.Imm32(asm.R0, big), asm.SDiv.Imm32(asm.R0, -1)}, 1 << 31},
		{"a shift by more than there is", asm.Instructions{asm.Mov.Imm(asm.R3, 65), asm.Mov.Reg(asm.R0, asm.R1), asm.LSh.Reg(asm.R0, asm.R3)}, 14},
		{"an arithmetic shift of 32 bits", asm.Instructions{asm.Mov.Reg(asm.R0, asm.R2), asm.ArSh.Imm32(asm.R0, 1)}, 0xfffffffc},
		{"the sign of a byte", asm.Instructions{asm.Mov.Imm(asm.R3, 0x80), asm.MovSX8.Reg(asm.R0, asm.R3)}, 1<<64 - 128},
		{"the sign of a byte in 32 bits", asm.Instructions{asm.Mov.Imm(asm.R3, 0x80), asm.MovSX8.Reg32(asm.R0, asm.R3)}, 1<<32 - 128},
		{"to big endian", asm.Instructions{asm.Mov.Imm(asm.R0, 0x12345678), asm.HostTo(asm.BE, asm.R0, asm.Half)}, 0x7856},
		{"a swap of bytes", asm.Instructions{asm.Mov.Imm(asm.R0, 0x12345678), asm.BSwap(asm.R0, asm.Word)}, 0x78563412},
		{"a comparison with a sign", asm.Instructions{asm.Mov.Imm(asm.R0, 1), asm.JSLT.Imm(asm.R2, 0, "out"), asm.Mov.Imm(asm.R0, 0)}, 1},
		{"one without", asm.Instructions{asm.Mov.Imm(asm.R0, 1), asm.JLT.Imm(asm.R2, 0, "out"), asm.Mov.Imm(asm.R0, 0)}, 0},
		{"one of 32 bits", asm.Instructions{asm.Mov.Imm(asm.R0, 1), asm.LoadImm(asm.R3, 1<<32, asm.DWord), asm.JEq.Imm32(asm.R3, 0, "out"), asm.Mov.Imm(asm.R0, 0)}, 1},
		{"a long jump", asm.Instructions{asm.Mov.Imm(asm.R0, 1), asm.LongJump("out"), asm.Mov.Imm(asm.R0, 0)}, 1},
		{"a load with a sign", asm.Instructions{asm.StoreMem(asm.R10, -8, asm.R2, asm.DWord), {OpCode: asm.LoadMemOp(asm.Half).SetMode(asm.MemSXMode), Dst: asm.R0, Src: asm.R10, Offset: -8}}, 1<<64 - 7},
		{"an exchange", asm.Instructions{asm.StoreMem(asm.R10, -8, asm.R2, asm.DWord), atomic(asm.Xchg, asm.R10, asm.R1, asm.DWord, -8), asm.Mov.Reg(asm.R0, asm.R1)}, 1<<64 - 7},
		{"a compare-exchange that fails", asm.Instructions{asm.StoreMem(asm.R10, -8, asm.R2, asm.DWord), asm.Mov.Imm(asm.R0, 1), atomic(asm.CmpXchg, asm.R10, asm.R1, asm.DWord, -8)}, 1<<64 - 7},
		{"an addition that fetches 32 bits", asm.Instructions{asm.StoreMem(asm.R10, -8, asm.R2, asm.DWord), atomic(asm.FetchAdd, asm.R10, asm.R1, asm.Word, -8), asm.Mov.Reg(asm.R0, asm.R1)}, 0xfffffff9},
		{"a loop by bpf_loop", asm.Instructions{asm.Mov.Imm(asm.R1, 3), {OpCode: asm.LoadImmOp(asm.DWord), Dst: asm.R2, Src: asm.PseudoFunc, Constant: -1}, asm.Mov.Imm(asm.R3, 0), asm.Mov.Imm(asm.R4, 0), asm.FnLoop.Call()}, 3},
	} {
		insns := append(asm.Instructions{asm.Mov.Imm(asm.R1, 7), asm.Mov.Imm(asm.R2, -7)}, c.insns...)
		for i := range insns {
			if insns[i].IsLoadOfFunctionPointer() {
				insns[i] = insns[i].WithReference("back")
			}
		}
		// The return value has 32 bits: the others go to a map.
		insns = append(insns, asm.LoadMapValue(asm.R1, 0, 0).WithReference(globalsMap).WithSymbol("out"),
			asm.StoreMem(asm.R1, 0, asm.R0, asm.DWord), asm.Return(),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("back"), asm.Return())
		m := machine(t, ebpf.XDP, insns...)
		_, err := m.Run("main", insntest.Input{Data: make([]byte, 60)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		b, err := m.Lookup(globalsMap, make([]byte, 4))
		if err != nil {
			t.Fatal(err)
		}
		if got := binary.NativeEndian.Uint64(b); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}

// The count of a loop over the bytes of a packet agrees with a count by hand.
func TestExecuted(t *testing.T) {
	m := machine(t, ebpf.XDP,
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word),
		asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
		asm.LoadImm(asm.R0, 1<<40, asm.DWord),
		asm.Mov.Imm(asm.R0, 0),
		asm.JGE.Reg(asm.R2, asm.R3, "end").WithSymbol("next"),
		asm.Add.Imm(asm.R2, 1),
		asm.Add.Imm(asm.R0, 1),
		asm.Ja.Label("next"),
		asm.Return().WithSymbol("end"),
	)
	for range 2 {
		r, err := m.Run("main", insntest.Input{Data: make([]byte, 20)})
		if err != nil || r.Retval != 20 {
			t.Fatal(r.Retval, err)
		}
	}
	if got, want := m.Executed("main"), []uint64{2, 2, 2, 2, 42, 40, 40, 40, 2}; !slices.Equal(got, want) {
		t.Errorf("executed %d, want %d", got, want)
	}
}

func TestTailCalls(t *testing.T) {
	call := asm.Instructions{
		asm.LoadMapPtr(asm.R2, 0).WithReference(tailsMap), asm.Mov.Imm(asm.R3, 0), asm.FnTailCall.Call(),
		asm.Mov.Imm(asm.R0, 5), asm.Return(),
	}
	spec := &ebpf.CollectionSpec{
		Maps:     map[string]*ebpf.MapSpec{tailsMap: {Name: tailsMap, Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: 1}},
		Programs: map[string]*ebpf.ProgramSpec{"main": {Type: ebpf.XDP, Instructions: call}},
	}
	m, err := insntest.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	in := insntest.Input{Data: make([]byte, 60)}
	if r, err := m.Run("main", in); err != nil || r.Retval != 5 || m.Executed("main")[0] != 1 {
		t.Errorf("into nothing: %d, %v", r.Retval, err)
	}
	if err := m.SetTail(tailsMap, 0, "main"); err != nil {
		t.Fatal(err)
	}
	// The kernel ends the 34th.
	if r, err := m.Run("main", in); err != nil || r.Retval != 5 || m.Executed("main")[0] != 1+34 {
		t.Errorf("into itself: %d, %v, %d", r.Retval, err, m.Executed("main"))
	}
}

func TestPackets(t *testing.T) {
	frame := append(make([]byte, 12), 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	load := func(off int16) asm.Instruction { return asm.LoadMem(asm.R0, asm.R1, off, asm.Word) }
	for _, c := range []struct {
		name  string
		typ   ebpf.ProgramType
		insns asm.Instructions // with the context in R6 and R1
		want  uint32
		data  []byte
	}{
		{"the length that tc sees", ebpf.SchedCLS, asm.Instructions{load(0)}, 30, frame},
		{"the length that a socket sees", ebpf.SocketFilter, asm.Instructions{load(0)}, 16, append(make([]byte, 14), frame[14:]...)},
		{"the protocol", ebpf.SchedCLS, asm.Instructions{load(16)}, uint32(binary.NativeEndian.Uint16([]byte{8, 0})), frame},
		{"half of a field", ebpf.SchedCLS, asm.Instructions{asm.LoadMem(asm.R0, asm.R1, 16, asm.Half)}, uint32(binary.NativeEndian.Uint16([]byte{8, 0})), frame},
		{"a mark", ebpf.SchedCLS, asm.Instructions{asm.Mov.Imm(asm.R2, 9), asm.StoreMem(asm.R1, 8, asm.R2, asm.Word), load(8)}, 9, frame},
		{"a legacy load", ebpf.SchedCLS, asm.Instructions{asm.LoadAbs(14, asm.Half)}, 0x0102, frame},
		{"one outside of the packet", ebpf.SchedCLS, asm.Instructions{asm.LoadAbs(29, asm.Half), asm.Mov.Imm(asm.R0, 1)}, 0, frame},
		{"a shorter head", ebpf.XDP, asm.Instructions{asm.Mov.Imm(asm.R2, 14), asm.FnXdpAdjustHead.Call()}, 0, frame[14:]},
		{"too short a head", ebpf.XDP, asm.Instructions{asm.Mov.Imm(asm.R2, 17), asm.FnXdpAdjustHead.Call()}, 1<<32 - 22, frame},
		{"a longer tail", ebpf.XDP, asm.Instructions{asm.Mov.Imm(asm.R2, 2), asm.FnXdpAdjustTail.Call()}, 0, append(slices.Clone(frame), 0, 0)},
	} {
		insns := append(append(asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}, c.insns...), asm.Return())
		r, err := machine(t, c.typ, insns...).Run("main", insntest.Input{Data: frame})
		if err != nil || r.Retval != c.want || !bytes.Equal(r.Data, c.data) {
			t.Errorf("%s: %#x, %x, %v, want %#x, %x", c.name, r.Retval, r.Data, err, c.want, c.data)
		}
	}
}

// The machine reports what it cannot do, and for which kind of reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		typ   ebpf.ProgramType
		insns asm.Instructions
		want  error
	}{
		{"a helper that it lacks", ebpf.XDP, asm.Instructions{asm.FnFibLookup.Call()}, insntest.ErrUnsupported},
		{"the time without a clock", ebpf.XDP, asm.Instructions{asm.FnKtimeGetNs.Call()}, insntest.ErrUnsupported},
		{"a type that it lacks", ebpf.Kprobe, nil, insntest.ErrUnsupported},
		{"a kernel function", ebpf.XDP, asm.Instructions{{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Call), Src: asm.PseudoKfuncCall}}, insntest.ErrUnsupported},
		{"null", ebpf.XDP, asm.Instructions{asm.Mov.Imm(asm.R2, 0), asm.LoadMem(asm.R0, asm.R2, 0, asm.Word)}, insntest.ErrFault},
		{"below the stack", ebpf.XDP, asm.Instructions{asm.LoadMem(asm.R0, asm.R10, -513, asm.Byte)}, insntest.ErrFault},
		{"behind the packet", ebpf.XDP, asm.Instructions{asm.LoadMem(asm.R2, asm.R1, 4, asm.Word), asm.LoadMem(asm.R0, asm.R2, 0, asm.Byte)}, insntest.ErrFault},
		{"an endless loop", ebpf.XDP, asm.Instructions{asm.Ja.Label("here").WithSymbol("here")}, insntest.ErrSteps},
		{"endless calls", ebpf.XDP, asm.Instructions{asm.Call.Label("here").WithSymbol("here")}, insntest.ErrFault},
	} {
		m := machine(t, c.typ, append(c.insns, asm.Mov.Imm(asm.R0, 0), asm.Return())...)
		m.Steps = 1 << 16
		if _, err := m.Run("main", insntest.Input{Data: make([]byte, 60)}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Whatever the instructions are, the machine stops.
func FuzzMachine(f *testing.F) {
	for seed := range uint64(6) {
		insns := generate(seed, 30, linux69).Programs["main"].Instructions
		for i := range insns {
			if insns[i].IsLoadFromMap() {
				insns[i] = insns[i].WithReference("")
			}
		}
		var b bytes.Buffer
		if err := insns.Marshal(&b, binary.LittleEndian); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), seed%2 == 0)
	}
	f.Add([]byte{0xb7, 0, 0, 0, 1, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0}, true)
	f.Fuzz(func(t *testing.T, code []byte, xdp bool) {
		insns, err := asm.AppendInstructions(nil, bytes.NewReader(code), binary.LittleEndian, "linux")
		if err != nil {
			t.Skip()
		}
		typ := ebpf.SchedCLS
		if xdp {
			typ = ebpf.XDP
		}
		names := []string{arrayMap, percpuMap, hashMap, globalsMap}
		for i := range insns {
			if insns[i].IsLoadFromMap() {
				insns[i] = insns[i].WithReference(names[uint32(insns[i].Constant)%4])
			}
		}
		m := machine(t, typ, insns...)
		m.Steps = 1 << 12
		for range 2 {
			_, _ = m.Run("main", insntest.Input{
				Data: make([]byte, 64), Time: func() uint64 { return 1 }, Random: func() uint32 { return 2 },
			})
		}
		for _, n := range m.Executed("main") {
			if n > 2*m.Steps {
				t.Fatalf("%d instructions", n)
			}
		}
	})
}
