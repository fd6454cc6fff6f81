package insn

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// read runs main on a packet and returns what its sites wrote.
func read(t *testing.T, spec *ebpf.CollectionSpec, packet []byte) *Log {
	t.Helper()
	coll, table := instrumented(t, spec, Options{Keys: true, Operands: true})
	log, err := table.Log(coll)
	if err != nil {
		t.Fatal(err)
	}
	run(t, coll.Programs["main"], packet)
	if err := log.Read(); err != nil {
		t.Fatal(err)
	}
	return log
}

// lookUp looks up in a map what r+offset points to.
func lookUp(name string, r asm.Register, offset int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R2, r),
		asm.Add.Imm(asm.R2, offset),
		asm.LoadMapPtr(asm.R1, 0).WithReference(name),
		asm.FnMapLookupElem.Call(),
	}
}

// A key is written down wherever it is and whatever it has.
func TestKeys(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	hash := func(name string, size uint32) *ebpf.MapSpec {
		return &ebpf.MapSpec{Name: name, Type: ebpf.Hash, KeySize: size, ValueSize: 8, MaxEntries: 4}
	}
	pass := asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}
	packet := make([]byte, 64)
	for i := range packet {
		packet[i] = byte(i)
	}
	for name, c := range map[string]struct {
		insns asm.Instructions
		size  uint32
		want  []byte // nil: any
		times uint64
	}{
		"of bytes": {
			insns: join(asm.Instructions{
				asm.StoreImm(asm.R10, -5, 3, asm.Byte), asm.StoreImm(asm.R10, -4, 0x07060504, asm.Word),
			}, lookUp("keys", asm.R10, -5), pass),
			size: 5, want: []byte{3, 4, 5, 6, 7}, times: 1,
		},
		"a pointer": {
			insns: join(asm.Instructions{asm.StoreMem(asm.R10, -8, asm.R1, asm.DWord)}, lookUp("keys", asm.R10, -8), pass),
			size:  8, times: 1,
		},
		"the last of three": {
			insns: join(asm.Instructions{
				asm.Mov.Reg(asm.R7, asm.R10), asm.Add.Imm(asm.R7, -4),
				asm.Mov.Imm(asm.R6, 0),
				asm.StoreMem(asm.R10, -4, asm.R6, asm.Word).WithSymbol("loop"),
			}, lookUp("keys", asm.R7, 0), asm.Instructions{
				asm.Add.Imm(asm.R6, 1), asm.JNE.Imm(asm.R6, 3, "loop"),
			}, pass),
			size: 4, want: binary.NativeEndian.AppendUint32(nil, 2), times: 3,
		},
		"in the packet": {
			insns: join(asm.Instructions{
				asm.LoadMem(asm.R6, asm.R1, 0, asm.Word), asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
				asm.Mov.Reg(asm.R4, asm.R6), asm.Add.Imm(asm.R4, 12),
				asm.JGT.Reg(asm.R4, asm.R3, "end"),
			}, lookUp("keys", asm.R6, 6), asm.Instructions{asm.Mov.Imm(asm.R0, 2).WithSymbol("end"), asm.Return()}),
			size: 6, want: []byte{6, 7, 8, 9, 10, 11}, times: 1,
		},
		"of no call": {
			insns: join(asm.Instructions{
				asm.LoadMem(asm.R3, asm.R1, 4, asm.Word), asm.LoadMem(asm.R6, asm.R1, 0, asm.Word), asm.Sub.Reg(asm.R3, asm.R6),
				asm.StoreImm(asm.R10, -4, 1, asm.Word), asm.JNE.Imm(asm.R3, 1, "end"),
			}, lookUp("keys", asm.R10, -4), asm.Instructions{asm.Mov.Imm(asm.R0, 2).WithSymbol("end"), asm.Return()}),
			size: 4, want: make([]byte, 4),
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := read(t, xdp(map[string]asm.Instructions{"main": c.insns}, hash("keys", c.size)), packet)
			for i := range log.Sites {
				s := &log.Sites[i]
				if s.Map == "" {
					continue
				}
				key, times := log.Key(s)
				if s.Map != "keys" || s.Program != "main" || asm.BuiltinFunc(c.insns[s.Index].Constant) != asm.FnMapLookupElem {
					t.Errorf("site %+v", s)
				}
				if times != c.times || c.want != nil && !bytes.Equal(key, c.want) {
					t.Errorf("key %x, %d times; want %x, %d", key, times, c.want, c.times)
				}
				if err := log.Read(); err != nil {
					t.Fatal(err)
				}
				if _, times := log.Key(s); times != 0 {
					t.Errorf("%d times although it was read", times)
				}
				return
			}
			t.Fatal("no site takes a key")
		})
	}
}

// A key is attributed to no map if the program chooses between two.
func TestKeyOfOneMapOrAnother(t *testing.T) {
	spec := xdp(map[string]asm.Instructions{"main": {
		asm.StoreImm(asm.R10, -4, 0, asm.Word),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -4),
		asm.LoadMem(asm.R3, asm.R1, 16, asm.Word),
		asm.LoadMapPtr(asm.R1, 0).WithReference("a"),
		asm.JEq.Imm(asm.R3, 0, "call"),
		asm.LoadMapPtr(asm.R1, 0).WithReference("b"),
		asm.FnMapLookupElem.Call().WithSymbol("call"),
		asm.Mov.Imm(asm.R0, 2), asm.Return(),
	}}, &ebpf.MapSpec{Name: "a", Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 1}, &ebpf.MapSpec{Name: "b", Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	table, err := Instrument(spec, Options{Keys: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.sites) > 0 || spec.Maps[LogName] != nil || !table.MissesKeys() {
		t.Errorf("sites %+v, misses keys %t", table.sites, table.MissesKeys())
	}
}

// Both operands of a jump are written down, unless one is in the instruction.
func TestOperands(t *testing.T) {
	testenv.Probe(t, "test_run xdp")
	log := read(t, xdp(map[string]asm.Instructions{"main": {
		asm.Mov.Imm(asm.R3, 7), asm.LoadImm(asm.R4, 1<<40+7, asm.DWord),
		asm.JNE.Reg32(asm.R3, asm.R4, "end"),
		asm.JEq.Imm(asm.R4, 5, "end"),
		asm.Mov.Imm(asm.R0, 2).WithSymbol("end"), asm.Return(),
	}}), make([]byte, 64))
	if len(log.Sites) != 2 {
		t.Fatalf("sites %+v", log.Sites)
	}
	for i, want := range [][2]uint64{{7, 1<<40 + 7}, {1<<40 + 7, 0}} {
		if dst, src := log.Operands(&log.Sites[i]); dst != want[0] || src != want[1] {
			t.Errorf("site %d: %#x and %#x, want %#x", i, dst, src, want)
		}
	}
}
