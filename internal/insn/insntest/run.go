package insntest

import (
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

const (
	stackSize = 512
	// maxFrames is the largest depth of nested calls.
	maxFrames = 16
	// maxTailCalls is the kernel's limit for a run.
	maxTailCalls = 33
	// maxLoops is the largest number of iterations of may_goto or bpf_loop.
	maxLoops = 1 << 23
)

// run is one run of a program.
type run struct {
	*Machine
	in      Input
	left    uint64
	packet  packet
	context uint64
	tails   int
	// garbage is the memory that ends with the run.
	garbage []uint64
}

// end releases the memory of the run. Reserved records are lost.
func (r *run) end() {
	for _, addr := range r.garbage {
		r.memory.release(addr)
	}
}

// alloc allocates memory that ends with the run.
func (r *run) alloc(size int) (uint64, error) {
	addr, err := r.memory.alloc(size)
	if err == nil {
		r.garbage = append(r.garbage, addr)
	}
	return addr, err
}

// frame is one call in progress.
type frame struct {
	*program
	r       [11]uint64
	at      int
	depth   int
	mayGoto uint64
}

// call runs a function of a program, with the programs that it tail-calls, and
// returns the value in R0.
func (r *run) call(p *program, at int, args [5]uint64, depth int) (uint64, error) {
	if depth >= maxFrames {
		return 0, fault("more than %d calls deep", maxFrames)
	}
	stack, err := r.memory.alloc(stackSize)
	if err != nil {
		return 0, err
	}
	defer r.memory.release(stack)
	f := &frame{program: p, at: at, depth: depth, mayGoto: maxLoops}
	copy(f.r[1:], args[:])
	f.r[asm.R10] = stack + stackSize
	for {
		if f.at < 0 || f.at >= len(f.insns) {
			return 0, fault("program %s goes on outside of itself", f.name)
		}
		if r.left == 0 {
			return 0, ErrSteps
		}
		r.left--
		ins := &f.insns[f.at]
		f.executed[f.at]++
		if ins.OpCode.JumpOp() == asm.Exit {
			return f.r[0], nil
		}
		done, err := r.step(f, ins)
		if err != nil || done {
			return f.r[0], err
		}
	}
}

// step executes an instruction. done reports the end of the function.
func (r *run) step(f *frame, ins *asm.Instruction) (done bool, err error) {
	if ins.Dst > asm.R10 || !ins.OpCode.Class().IsJump() && ins.OpCode.Class() != asm.LdClass && ins.Src > asm.R10 {
		return false, fault("instruction %d names a register that is none", f.at)
	}
	if relocated(ins) {
		return false, unsupported("an instruction that the loader relocates")
	}
	next := f.at + 1
	switch class := ins.OpCode.Class(); {
	case class.IsALU():
		err = f.alu(ins)
	case class.IsJump():
		return r.jump(f, ins)
	case ins.OpCode.IsDWordLoad():
		f.r[ins.Dst], err = r.constant(f, ins)
	case class == asm.LdClass:
		if done, err = r.legacyLoad(f, ins); done {
			f.r[0] = 0
		}
	case class == asm.LdXClass:
		f.r[ins.Dst], err = r.loadFrom(f, ins)
	case ins.OpCode.Mode() == asm.AtomicMode:
		err = r.atomic(f, ins)
	default:
		err = r.storeTo(f, ins)
	}
	f.at = next
	return done, err
}

func (f *frame) alu(ins *asm.Instruction) error {
	op, ok := ins.OpCode, false
	if ins.Dst == asm.R10 {
		return fault("a write to R10")
	}
	switch {
	case ins.Offset != 0:
		return unsupported("%s with an offset", op)
	case op.ALUOp() == asm.Swap:
		f.r[ins.Dst], ok = swap(op, f.r[ins.Dst], ins.Constant)
	default:
		operand := uint64(ins.Constant)
		if op.Source() == asm.RegSource {
			operand = f.r[ins.Src]
		}
		f.r[ins.Dst], ok = alu(op.ALUOp(), f.r[ins.Dst], operand, op.Class() == asm.ALUClass)
	}
	if !ok {
		return unsupported("operation %s", op)
	}
	return nil
}

func (r *run) jump(f *frame, ins *asm.Instruction) (done bool, err error) {
	op, next := ins.OpCode.JumpOp(), f.at+1
	narrow := ins.OpCode.Class() == asm.Jump32Class
	switch op {
	case asm.Call:
		return r.callTo(f, ins)
	case asm.InvalidJumpOp:
		return false, unsupported("jump %s", ins.OpCode)
	case asm.Ja:
		if ins.OpCode.Source() == asm.RegSource {
			return false, unsupported("an indirect jump")
		}
		next = f.target[f.at]
	case asm.JCOND:
		if ins.Src != 0 {
			return false, unsupported("jump %s of kind %d", ins.OpCode, ins.Src)
		}
		if f.mayGoto == 0 {
			next = f.target[f.at]
		} else {
			f.mayGoto--
		}
	default:
		operand := uint64(ins.Constant)
		if ins.OpCode.Source() == asm.RegSource {
			if ins.Src > asm.R10 {
				return false, fault("instruction %d names a register that is none", f.at)
			}
			operand = f.r[ins.Src]
		}
		yes, ok := taken(op, f.r[ins.Dst], operand, narrow)
		if !ok {
			return false, unsupported("jump %s", ins.OpCode)
		}
		if yes {
			next = f.target[f.at]
		}
	}
	f.at = next
	return false, nil
}

func (r *run) callTo(f *frame, ins *asm.Instruction) (done bool, err error) {
	args := [5]uint64(f.r[1:6])
	switch {
	case ins.IsFunctionCall():
		to := f.target[f.at]
		f.at++
		f.r[0], err = r.call(f.program, to, args, f.depth+1)
		return false, err
	case !ins.IsBuiltinCall():
		return false, unsupported("a call of a kernel function")
	case asm.BuiltinFunc(ins.Constant) == asm.FnTailCall:
		return false, r.tailCall(f, args)
	}
	f.at++
	f.r[0], err = r.helper(f, asm.BuiltinFunc(ins.Constant), args)
	return false, err
}

// tailCall continues with another program in place of the function, or after
// the call if there is none.
func (r *run) tailCall(f *frame, args [5]uint64) error {
	t, err := r.table(args[1])
	if err != nil {
		return err
	}
	index := uint32(args[2])
	to := t.programs[index]
	if to == nil || uint64(index) >= t.maxEntries || r.tails >= maxTailCalls {
		f.r[0] = errno(unix.ENOENT)
		f.at++
		return nil
	}
	r.tails++
	f.program, f.at, f.mayGoto = to, 0, maxLoops
	f.r[1] = args[0]
	return nil
}

// constant returns the constant that a 64-bit load loads.
func (r *run) constant(f *frame, ins *asm.Instruction) (uint64, error) {
	name := f.refers[f.at]
	switch {
	case ins.Dst >= asm.R10:
		return 0, fault("a write to R10")
	case ins.IsLoadFromMap():
		t := r.maps[name]
		if t == nil {
			return 0, unsupported("map %q", name)
		}
		if ins.Src == asm.PseudoMapFD {
			return t.handle, nil
		}
		addr, err := t.elements(&r.memory)
		return addr + uint64(ins.Constant)>>32, err
	case ins.IsLoadOfFunctionPointer():
		if f.target[f.at] < 0 {
			return 0, fault("a function %q that is not there", name)
		}
		return codeHandle | f.number<<32 | uint64(f.target[f.at]), nil
	case ins.Src != 0 || name != "":
		return 0, unsupported("an address in the kernel")
	}
	return uint64(ins.Constant), nil
}

// back calls the function of a function pointer.
func (r *run) back(f *frame, pointer uint64, args [5]uint64) (uint64, error) {
	number := pointer &^ codeHandle >> 32
	if pointer&codeHandle == 0 || number >= uint64(len(r.byNumber)) {
		return 0, fault("%#x is not a function", pointer)
	}
	return r.call(r.byNumber[number], int(uint32(pointer)), args, f.depth+1)
}

// errno returns a helper's result for an error.
func errno(e syscall.Errno) uint64 { return uint64(-int64(e)) }

// isSocketBuffer reports whether programs of type t get a socket buffer.
func isSocketBuffer(t ebpf.ProgramType) bool {
	switch t {
	case ebpf.SocketFilter, ebpf.SchedCLS, ebpf.SchedACT, ebpf.CGroupSKB, ebpf.LWTIn, ebpf.LWTOut, ebpf.LWTXmit, ebpf.LWTSeg6Local:
		return true
	}
	return false
}
