package insntest

import "github.com/cilium/ebpf/asm"

func (r *run) loadFrom(f *frame, ins *asm.Instruction) (uint64, error) {
	size := ins.OpCode.Size().Sizeof()
	mode := ins.OpCode.Mode()
	if ins.Dst == asm.R10 {
		return 0, fault("a write to R10")
	}
	if mode != asm.MemMode && mode != asm.MemSXMode {
		return 0, unsupported("load %s", ins.OpCode)
	}
	addr := f.r[ins.Src] + uint64(int64(ins.Offset))
	v, err := r.read(addr, size)
	if mode == asm.MemSXMode {
		v = extend(v, size)
	}
	return v, err
}

// read reads memory, or a field of the context.
func (r *run) read(addr uint64, size int) (uint64, error) {
	region, off, err := r.memory.at(addr)
	if err != nil {
		return 0, err
	}
	if region.context {
		return r.packet.field(off, size)
	}
	b, err := r.memory.bytes(addr, size)
	if err != nil {
		return 0, err
	}
	return load(b), nil
}

func (r *run) storeTo(f *frame, ins *asm.Instruction) error {
	if ins.OpCode.Mode() != asm.MemMode {
		return unsupported("store %s", ins.OpCode)
	}
	v := uint64(ins.Constant)
	if ins.OpCode.Class() == asm.StXClass {
		v = f.r[ins.Src]
	}
	return r.write(f.r[ins.Dst]+uint64(int64(ins.Offset)), ins.OpCode.Size().Sizeof(), v)
}

func (r *run) write(addr uint64, size int, v uint64) error {
	region, off, err := r.memory.at(addr)
	if err != nil {
		return err
	}
	if region.context {
		return r.packet.setField(off, size, v)
	}
	b, err := r.memory.bytes(addr, size)
	if err != nil {
		return err
	}
	store(b, v)
	return nil
}

// Kinds of atomic operations, by the kernel's constants; cilium/ebpf does not
// export some of them.
const (
	fetches      = 0x01
	loadAcquire  = 0x100
	storeRelease = 0x110
)

func (r *run) atomic(f *frame, ins *asm.Instruction) error {
	size := ins.OpCode.Size().Sizeof()
	op := ins.OpCode.AtomicOp()
	kind := uint32(op) >> 8
	at := ins.Dst
	if kind == loadAcquire {
		at = ins.Src
	}
	addr := f.r[at] + uint64(int64(ins.Offset))
	if kind == storeRelease {
		return r.write(addr, size, f.r[ins.Src])
	}
	if (kind == loadAcquire && ins.Dst == asm.R10) || (kind&fetches != 0 && ins.Src == asm.R10) {
		return fault("a write to R10")
	}
	old, err := r.read(addr, size)
	if err != nil {
		return err
	}
	if kind == loadAcquire {
		f.r[ins.Dst] = old
		return nil
	}
	if size < 4 {
		return unsupported("atomic operation %s of %d bytes", op, size)
	}
	operand := f.r[ins.Src]
	made := operand
	switch op {
	case asm.AddAtomic, asm.FetchAdd:
		made = old + operand
	case asm.AndAtomic, asm.FetchAnd:
		made = old & operand
	case asm.OrAtomic, asm.FetchOr:
		made = old | operand
	case asm.XorAtomic, asm.FetchXor:
		made = old ^ operand
	case asm.Xchg:
	case asm.CmpXchg:
		expected := f.r[0]
		if size == 4 {
			expected = uint64(uint32(expected))
		}
		f.r[0] = old
		if old != expected {
			return nil
		}
		return r.write(addr, size, made)
	default:
		return unsupported("atomic operation %s", op)
	}
	if kind&fetches != 0 {
		f.r[ins.Src] = old
	}
	return r.write(addr, size, made)
}
