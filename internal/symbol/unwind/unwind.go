// Package unwind finds the callers of a function on a copy of its stack, by the call frame
// information that compilers write (.eh_frame, .debug_frame). It takes no frame pointers.
//
// The files are those of strangers, and stacks can hold anything: what is malformed or
// missing gives fewer callers, never an endless loop.
package unwind

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/op"
)

// Registers are those of amd64, as DWARF numbers them; the last one is the address of the
// instruction.
type Registers [17]uint64

// StackPointer is the number of rsp.
const StackPointer = rsp

const (
	rbp = 6
	rsp = 7
	rip = 16
	// word is the size of a register and of an address, in bytes.
	word = 8
)

const (
	// maxDepth bounds a stack, in frames.
	maxDepth = 1024
	// maxWork bounds what tables say that is executed for a stack, in bytes. Functions have
	// some tens.
	maxWork = 1 << 16
)

// Stack is a part of the memory of a thread.
type Stack struct {
	Base   uint64
	Memory []byte
}

func (s *Stack) read(to []byte, addr uint64) (int, error) {
	if addr < s.Base || addr-s.Base > uint64(len(s.Memory)) || uint64(len(to)) > uint64(len(s.Memory))-(addr-s.Base) {
		return 0, errors.New("it is not in the copy")
	}
	return copy(to, s.Memory[addr-s.Base:]), nil
}

func (s *Stack) word(addr uint64) (uint64, bool) {
	var raw [word]byte
	_, err := s.read(raw[:], addr)
	return binary.LittleEndian.Uint64(raw[:]), err == nil
}

// Code returns the table of the file that has an address of a process, nil if there is
// none, and the virtual address in the file. Not mapped: there is nothing at the address.
type Code func(addr uint64) (table *Table, vaddr uint64, mapped bool)

// Callers returns where a thread is and where its functions return to, innermost first. A
// function that a signal interrupted has an address one beyond its next instruction, so
// that all but the first are behind what is executed. Whole says that the last function
// has no caller.
//
// Where nothing is known of the code, framePointers, the same stack as far as frame
// pointers lead, goes on, if it has the address, and else the frame pointer.
func Callers(regs Registers, stack Stack, code Code, framePointers []uint64) (addrs []uint64, whole bool) {
	addrs = []uint64{regs[rip]}
	work := maxWork
	called := uint64(0) // 1 if the address is where a call returns to
	for len(addrs) < maxDepth {
		var r *row
		if table, vaddr, _ := code(regs[rip] - called); table != nil {
			r = table.row(vaddr, &work)
		}
		if r == nil {
			if i := slices.Index(framePointers, regs[rip]); i >= 0 {
				return append(addrs, framePointers[i+1:]...), false
			}
			r = &byFramePointer
		}
		if r.regs[rip].kind == isUndefined {
			return addrs, true
		}
		if work -= r.work; work < 0 {
			return addrs, false
		}
		next, ok := r.caller(&regs, &stack)
		// A stack grows downwards; but a signal may be handled on one of its own.
		if !ok || next[rsp] <= regs[rsp] && !r.signal {
			return addrs, false
		}
		called = 1
		if r.signal {
			called = 0
		}
		if _, _, mapped := code(next[rip] - called); !mapped {
			return addrs, false
		}
		addrs = append(addrs, next[rip]+1-called)
		regs = next
	}
	return addrs, false
}

// byFramePointer is the row of a function with a frame pointer.
var byFramePointer = row{
	cfa:  rule{kind: isRegister, reg: rbp, offset: 2 * word},
	regs: [len(Registers{})]rule{rbp: {kind: isAt, offset: -2 * word}, rip: {kind: isAt, offset: -word}},
}

// caller returns the registers of the caller.
func (r *row) caller(regs *Registers, stack *Stack) (next Registers, ok bool) {
	cfa, ok := r.cfa.value(0, regs, stack, 0)
	next = *regs
	next[rsp] = cfa
	for i := range r.regs {
		if rule := &r.regs[i]; ok && rule.kind != isSame {
			next[i], ok = rule.value(cfa, regs, stack, regs[i])
		}
	}
	return next, ok && next[rip] != 0
}

// value returns the value that a rule says, or old if it says none.
func (r *rule) value(cfa uint64, regs *Registers, stack *Stack, old uint64) (value uint64, ok bool) {
	switch r.kind {
	case isAt:
		return stack.word(cfa + uint64(r.offset))
	case isCFA:
		return cfa + uint64(r.offset), true
	case isRegister:
		return regs[r.reg] + uint64(r.offset), true
	case isValue:
		return evaluate(r.expr, cfa, regs, stack)
	case isAtValue:
		addr, ok := evaluate(r.expr, cfa, regs, stack)
		if !ok {
			return 0, false
		}
		return stack.word(addr)
	}
	return old, true
}

// evaluate evaluates an expression, to which the CFA is given if it is known.
func evaluate(expr []byte, cfa uint64, regs *Registers, stack *Stack) (value uint64, ok bool) {
	// The evaluation takes for granted that its operands are there.
	defer func() {
		if recover() != nil {
			value, ok = 0, false
		}
	}()
	all := make([]*op.DwarfRegister, len(regs))
	for i := range regs {
		all[i] = op.DwarfRegisterFromUint64(regs[i])
	}
	known := op.NewDwarfRegisters(0, all, binary.LittleEndian, rip, rsp, rbp, 0)
	if cfa != 0 {
		known.CFA = int64(cfa)
		expr = append([]byte{byte(op.DW_OP_call_frame_cfa)}, expr...)
	}
	n, pieces, err := op.ExecuteStackProgram(*known, expr, word, stack.read)
	return uint64(n), err == nil && pieces == nil
}
