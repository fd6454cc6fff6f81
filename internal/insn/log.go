package insn

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// LogName is the key of the map in a collection to which sites write.
const LogName = ".insn_log"

// A Site is an instruction that writes down what it is given, over what it wrote before:
// the key of a call that looks up, changes or deletes an entry of a map (Options.Keys), or
// the operands of a conditional jump (Options.Operands).
type Site struct {
	Program string
	Index   int // of the instruction, in the program's Instructions
	// Map is the key in the collection of the map that the call is about, or "" for a jump.
	Map string

	at, size int             // of what is written, in bytes
	offset   int             // of the key from R10, or unknown
	register [2]asm.Register // that hold the address, and what is written
}

// unknown is the offset of a key that need not be on the stack.
const unknown = 1

// maxKey bounds the keys that are written down, in bytes.
const maxKey = 512

// keyed are the helpers whose first argument is a map, and whose second is a key of it.
var keyed = []asm.BuiltinFunc{asm.FnMapLookupElem, asm.FnMapUpdateElem, asm.FnMapDeleteElem, asm.FnMapLookupPercpuElem}

// logged finds the sites of a program, by instruction. Their log begins at byte at.
// It reports whether it missed calls that may change entries of some map.
func logged(l *liveness, o Options, specs map[string]*ebpf.MapSpec, at int) (found map[int]Site, missed bool) {
	g := l.graph
	found = map[int]Site{}
	for b := range g.blocks {
		for i := g.blocks[b].Start; i < g.blocks[b].End; i++ {
			ins := &g.insns[i]
			s, ok := Site{}, false
			switch {
			case o.Keys && ins.IsBuiltinCall():
				s, ok = g.keySite(b, i, specs)
				missed = missed || !ok && changesEntries(asm.BuiltinFunc(ins.Constant))
			case o.Operands && compares(ins):
				s, ok = l.operandSite(b)
			}
			if ok {
				s.Index, s.at = i, at
				at += (s.size + 7) / 8 * 8
				found[i] = s
			}
		}
	}
	return found, missed
}

// changesEntries reports whether a helper, or what its caller does with the result, may
// change entries of a map that have keys.
func changesEntries(f asm.BuiltinFunc) bool {
	return slices.Contains(keyed, f) || f == asm.FnForEachMapElem
}

// keySite returns the site of a call that takes a key of a known map. The registers that
// it uses are those that the call clobbers and that carry no argument.
func (g *graph) keySite(b, i int, specs map[string]*ebpf.MapSpec) (s Site, ok bool) {
	if !slices.Contains(keyed, asm.BuiltinFunc(g.insns[i].Constant)) {
		return s, false
	}
	load, _ := g.origin(b, i, asm.R1)
	if load == none || !g.insns[load].IsLoadFromMap() {
		return s, false
	}
	name := g.insns[load].Reference()
	m := specs[name]
	if m == nil || m.KeySize == 0 || m.KeySize > maxKey {
		return s, false
	}
	s = Site{Map: name, size: 8 + int(m.KeySize), offset: unknown, register: [2]asm.Register{asm.R5, asm.R0}}
	if at, offset := g.origin(b, i, asm.R2); at == none && offset <= 0 {
		s.offset = offset
	}
	return s, true
}

// compares reports whether an instruction is a conditional jump with operands.
func compares(ins *asm.Instruction) bool {
	switch ins.OpCode.JumpOp() {
	case asm.InvalidJumpOp, asm.Ja, asm.Call, asm.Exit, asm.JCOND:
		return false
	}
	return true
}

// operandSite returns the site of the jump that ends a block, if a register is free there.
func (l *liveness) operandSite(b int) (s Site, ok bool) {
	reads, _ := l.effect(l.graph.blocks[b].End - 1)
	free := allRegisters &^ (l.out[b] | reads)
	for _, r := range preference {
		if free.has(r) {
			return Site{size: 16, register: [2]asm.Register{r, r}}, true
		}
	}
	return s, false
}

// origin follows a register back from in front of instruction i of block b, through copies
// and constants that are added. It returns the instruction that set it, or none and the
// offset from R10, or none and unknown. A register has one value from another block only
// if no more than one writes it, on which the block then depends.
func (g *graph) origin(b, i int, r asm.Register) (index, offset int) {
	const most = 100 // steps, for a register that is added to in a loop
	for range most {
		if r == asm.R10 {
			return none, offset
		}
		if i--; i < g.blocks[b].Start {
			if b = g.writer(b, r); b == none {
				return none, unknown
			}
			i = g.blocks[b].End
			continue
		}
		ins := &g.insns[i]
		if _, writes := effect(ins, 0); !writes.has(r) {
			continue
		}
		switch op := ins.OpCode; {
		case op.Class() == asm.ALU64Class && op.ALUOp() == asm.Mov && op.Source() == asm.RegSource && ins.Offset == 0:
			r = ins.Src
		case op.Class() == asm.ALU64Class && op.ALUOp() == asm.Add && op.Source() == asm.ImmSource:
			offset += int(ins.Constant)
		default:
			return i, offset
		}
	}
	return none, unknown
}

// writer returns the only block of a function that writes a register, or none.
func (g *graph) writer(b int, r asm.Register) int {
	f, found := g.blocks[b].Function, none
	for other := g.begin[f]; other < g.begin[f+1]; other++ {
		for i := g.blocks[other].Start; i < g.blocks[other].End; i++ {
			if _, writes := effect(&g.insns[i], 0); writes.has(r) && found != other {
				if found != none {
					return none
				}
				found = other
			}
		}
	}
	return found
}

// log emits what a site does.
func (e *emitter) log(s Site) {
	address, value := s.register[0], s.register[1]
	e.append(asm.LoadMapValue(address, 0, uint32(s.at)).WithMetadata(logLoad))
	if s.Map == "" {
		jump := &e.graph.insns[s.Index]
		e.append(asm.StoreMem(address, 0, jump.Dst, asm.DWord))
		if jump.OpCode.Source() == asm.RegSource {
			e.append(asm.StoreMem(address, 8, jump.Src, asm.DWord))
		}
		return
	}
	e.append(asm.Mov.Imm(value, 1))
	e.append(asm.AddAtomic.Mem(address, value, asm.DWord, 0))
	for at := 0; at < s.size-8; {
		size, bytes := s.width(at)
		e.append(asm.LoadMem(value, asm.R2, int16(at), size))
		e.append(asm.StoreMem(address, int16(8+at), value, size))
		at += bytes
	}
}

// logLoad is the metadata of every site's load of an address.
var logLoad = asm.LoadMapValue(asm.R0, 0, 0).WithReference(LogName).Metadata

// width returns how many bytes of a key are copied at once. The verifier wants access to
// the stack aligned, and a pointer there read as a whole.
func (s *Site) width(at int) (asm.Size, int) {
	left := s.size - 8 - at
	switch {
	case s.offset == unknown:
	case (s.offset+at)%8 == 0 && left >= 8:
		return asm.DWord, 8
	case (s.offset+at)%4 == 0 && left >= 4:
		return asm.Word, 4
	case (s.offset+at)%2 == 0 && left >= 2:
		return asm.Half, 2
	}
	return asm.Byte, 1
}

// addSites adds the sites of a program to the table.
func (t *Table) addSites(program string, logs map[int]Site) {
	for _, i := range slices.Sorted(maps.Keys(logs)) {
		s := logs[i]
		s.Program = program
		t.sites = append(t.sites, s)
		t.logSize = s.at + (s.size+7)/8*8
	}
}

// MissesKeys reports whether programs may change entries of maps whose keys no site writes
// down.
func (t *Table) MissesKeys() bool { return t.missesKeys }

// Log reads what the sites of a loaded collection wrote.
type Log struct {
	Sites  []Site // by program and instruction
	memory *ebpf.Memory
	now    []byte
	clear  []byte
}

// Log returns a reader of what the sites of a loaded collection write.
func (t *Table) Log(coll *ebpf.Collection) (*Log, error) {
	m := coll.Maps[LogName]
	if m == nil {
		return nil, fmt.Errorf("collection has no map %s: it writes down nothing", LogName)
	}
	memory, err := m.Memory()
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	return &Log{t.sites, memory, make([]byte, t.logSize), make([]byte, t.logSize)}, nil
}

// Read takes what was written since the last Read. It must not run at the same time as
// the programs.
func (l *Log) Read() error {
	if _, err := l.memory.ReadAt(l.now, 0); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if _, err := l.memory.WriteAt(l.clear, 0); err != nil {
		return fmt.Errorf("clear log: %w", err)
	}
	return nil
}

// Key returns how often a call was made, and its last key, which the next Read changes.
func (l *Log) Key(s *Site) (key []byte, times uint64) {
	return l.now[s.at+8 : s.at+s.size], binary.NativeEndian.Uint64(l.now[s.at:])
}

// Operands returns the registers that a jump compared last, or 0 if none did; the source
// is also 0 where the jump compares with a constant.
func (l *Log) Operands(s *Site) (dst, src uint64) {
	return binary.NativeEndian.Uint64(l.now[s.at:]), binary.NativeEndian.Uint64(l.now[s.at+8:])
}

// logMap returns the map of a log of size bytes.
func logMap(size int) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: "insn_log", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE}
}
