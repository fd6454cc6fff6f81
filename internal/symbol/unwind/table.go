package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// Table is what an ELF file says of the frames of its functions: how to find, at each
// instruction, the frame of the caller. It is for one goroutine at a time.
type Table struct {
	entries frame.FrameDescriptionEntries
	rows    map[uint64]*row // those that were asked for; nil where there is none
	most    int             // rows that there have been room for
	budget  *budget.Budget
}

const (
	// maxRows bounds the rows that a table remembers.
	maxRows = 1 << 14
	// maxRemembered bounds the rows that a function puts aside: compilers nest none.
	maxRemembered = 16
	// repeats is how often an expression may execute each of its bytes.
	repeats = 10
)

// New reads the sections .eh_frame, with its virtual address, and .debug_frame of a file.
// Either may be nil. What is malformed is an error, as is what the budget has no room for, and
// what the other section has is in the table nevertheless.
func New(ehFrame []byte, addr uint64, debugFrame []byte, left *budget.Budget) (*Table, error) {
	eh, err1 := parse(ehFrame, addr, left)
	debug, err2 := parse(debugFrame, 0, left)
	t := &Table{rows: map[uint64]*row{}, budget: left}
	// Append sorts what it appends.
	for _, e := range (frame.FrameDescriptionEntries{}).Append(append(eh, debug...)) {
		if e.Begin() < e.End() && e.CIE.ReturnAddressRegister == rip {
			t.entries = append(t.entries, e)
		}
	}
	return t, errors.Join(err1, err2)
}

func parse(section []byte, addr uint64, left *budget.Budget) (entries frame.FrameDescriptionEntries, err error) {
	// The parser takes for granted that its input is well-formed.
	defer func() {
		if r := recover(); r != nil {
			entries, err = nil, fmt.Errorf("call frame information is malformed: %v", r)
		}
	}()
	// What the parser and New make of an entry.
	const size = 256
	if !left.Take(size * count(section)) {
		return nil, errors.New("there is no room for call frame information")
	}
	const pointer = 8
	entries, err = frame.Parse(section, binary.LittleEndian, 0, pointer, addr)
	if err != nil {
		return nil, fmt.Errorf("read call frame information: %w", err)
	}
	return entries, nil
}

// count returns the number of entries of a section. Each begins with its length.
func count(section []byte) (n uint64) {
	for ; len(section) >= 4; n++ {
		length := uint64(binary.LittleEndian.Uint32(section))
		section = section[min(4+length, uint64(len(section))):]
	}
	return n
}

// row returns how to find the caller from a virtual address, or nil if that is unknown, or
// takes more work than is left.
func (t *Table) row(pc uint64, work *int) *row {
	r, known := t.rows[pc]
	if known {
		return r
	}
	e, err := t.entries.FDEForPC(pc)
	if err == nil {
		size := len(e.CIE.InitialInstructions) + len(e.Instructions)
		if size > *work {
			return nil
		}
		*work -= size
		r = find(e, pc)
	}
	if len(t.rows) == maxRows {
		clear(t.rows)
	}
	if len(t.rows) == t.most {
		if !t.budget.Take(rowSize) {
			return r
		}
		t.most++
	}
	t.rows[pc] = r
	return r
}

// find returns the row of an instruction of a function, or nil if there is none.
func find(e *frame.FrameDescriptionEntry, pc uint64) *row {
	p := &program{cie: e.CIE, pc: pc}
	p.row.signal = strings.Contains(e.CIE.Augmentation, "S")
	p.rest, p.loc = e.CIE.InitialInstructions, e.Begin()
	p.run()
	p.initial = p.row
	p.rest, p.loc = e.Instructions, e.Begin()
	p.run()
	r := p.row
	if p.bad || r.cfa.kind != isRegister && r.cfa.kind != isValue || r.regs[rip].kind == isSame {
		return nil
	}
	r.work = repeats * len(r.cfa.expr)
	for _, rule := range r.regs {
		r.work += repeats * len(rule.expr)
	}
	return &r
}

// row says where the registers of the caller are, at an instruction.
type row struct {
	cfa    rule // the canonical frame address: isRegister or isValue
	regs   [len(Registers{})]rule
	signal bool // the kernel called, between any two instructions of what is the caller
	work   int  // of the expressions
}

// rowSize is what a table takes for a row, in bytes.
const rowSize = uint64(unsafe.Sizeof(row{})) + 32

// rule says what a register of the caller is.
type rule struct {
	kind   kind
	reg    uint8
	offset int64
	expr   []byte
}

type kind uint8

const (
	isSame      kind = iota // as in the function
	isUndefined             // gone; of the return address: there is no caller
	isAt                    // in memory, at an offset from the CFA
	isCFA                   // an offset from the CFA
	isRegister              // an offset from a register
	isAtValue               // in memory, at the value of an expression
	isValue                 // the value of an expression
)

// program executes the instructions of call frame information up to an address, as
// section 6.4.2 of DWARF 5 describes them.
type program struct {
	row, initial row
	remembered   []row
	cie          *frame.CommonInformationEntry
	pc, loc      uint64
	rest         []byte
	bad          bool
}

func (p *program) run() {
	for len(p.rest) > 0 && p.loc <= p.pc && !p.bad {
		p.step()
	}
}

// Instructions, by their names in DWARF without DW_CFA_. The upper two bits of the first
// three are the instruction, the other ones its first operand.
const (
	advanceLoc, offset, restore = 1 << 6, 2 << 6, 3 << 6
	operand                     = 1<<6 - 1

	nop, setLoc, advanceLoc1, advanceLoc2, advanceLoc4              = 0x00, 0x01, 0x02, 0x03, 0x04
	offsetExtended, restoreExtended, undefined, sameValue, register = 0x05, 0x06, 0x07, 0x08, 0x09
	rememberState, restoreState                                     = 0x0a, 0x0b
	defCFA, defCFARegister, defCFAOffset, defCFAExpression          = 0x0c, 0x0d, 0x0e, 0x0f
	expression, offsetExtendedSF, defCFASF, defCFAOffsetSF          = 0x10, 0x11, 0x12, 0x13
	valOffset, valOffsetSF, valExpression, argsSize                 = 0x14, 0x15, 0x16, 0x2e
)

func (p *program) step() {
	op := p.bytes(1)[0]
	low := uint64(op & operand)
	switch op &^ operand {
	case advanceLoc:
		p.advance(low)
		return
	case offset:
		p.set(low, rule{kind: isAt, offset: p.factored()})
		return
	case restore:
		p.restore(low)
		return
	}
	cfa := &p.row.cfa
	switch op {
	case nop:
	case advanceLoc1:
		p.advance(uint64(p.bytes(1)[0]))
	case advanceLoc2:
		p.advance(uint64(binary.LittleEndian.Uint16(p.bytes(2))))
	case advanceLoc4:
		p.advance(uint64(binary.LittleEndian.Uint32(p.bytes(4))))
	case offsetExtended:
		p.set(p.uleb(), rule{kind: isAt, offset: p.factored()})
	case offsetExtendedSF:
		p.set(p.uleb(), rule{kind: isAt, offset: p.factoredSigned()})
	case valOffset:
		p.set(p.uleb(), rule{kind: isCFA, offset: p.factored()})
	case valOffsetSF:
		p.set(p.uleb(), rule{kind: isCFA, offset: p.factoredSigned()})
	case restoreExtended:
		p.restore(p.uleb())
	case undefined:
		p.set(p.uleb(), rule{kind: isUndefined})
	case sameValue:
		p.set(p.uleb(), rule{})
	case register:
		p.set(p.uleb(), rule{kind: isRegister, reg: p.register()})
	case expression:
		p.set(p.uleb(), rule{kind: isAtValue, expr: p.block()})
	case valExpression:
		p.set(p.uleb(), rule{kind: isValue, expr: p.block()})
	case rememberState:
		p.bad = p.bad || len(p.remembered) == maxRemembered
		p.remembered = append(p.remembered, p.row)
	case restoreState:
		last := len(p.remembered) - 1
		if last < 0 {
			p.bad = true
			return
		}
		p.row, p.remembered = p.remembered[last], p.remembered[:last]
	case defCFA:
		*cfa = rule{kind: isRegister, reg: p.register(), offset: int64(p.uleb())}
	case defCFASF:
		*cfa = rule{kind: isRegister, reg: p.register(), offset: p.factoredSigned()}
	case defCFARegister:
		cfa.reg = p.register()
	case defCFAOffset:
		cfa.offset = int64(p.uleb())
	case defCFAOffsetSF:
		cfa.offset = p.factoredSigned()
	case defCFAExpression:
		*cfa = rule{kind: isValue, expr: p.block()}
	case argsSize:
		p.uleb() // what a call pushed, which exceptions alone ask for
	default: // setLoc, which no compiler writes, too
		p.bad = true
	}
}

func (p *program) advance(delta uint64) { p.loc += delta * p.cie.CodeAlignmentFactor }

// set sets the rule of a register. Those of floating point and vectors lead nowhere.
func (p *program) set(reg uint64, r rule) {
	if reg < uint64(len(p.row.regs)) {
		p.row.regs[reg] = r
	}
}

func (p *program) restore(reg uint64) {
	if reg < uint64(len(p.row.regs)) {
		p.row.regs[reg] = p.initial.regs[reg]
	}
}

// register takes the number of a register that something is computed from.
func (p *program) register() uint8 {
	reg := p.uleb()
	if reg >= uint64(len(p.row.regs)) {
		p.bad = true
		return 0
	}
	return uint8(reg)
}

func (p *program) factored() int64       { return int64(p.uleb()) * p.cie.DataAlignmentFactor }
func (p *program) factoredSigned() int64 { return p.sleb() * p.cie.DataAlignmentFactor }

func (p *program) bytes(n uint64) []byte {
	if n > uint64(len(p.rest)) {
		p.bad, p.rest = true, nil
		return make([]byte, 4)
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

func (p *program) block() []byte { return p.bytes(p.uleb()) }

func (p *program) uleb() uint64 {
	n, size := binary.Uvarint(p.rest)
	if size <= 0 {
		p.bad, p.rest = true, nil
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

// sleb takes a number whose highest bit is its sign.
func (p *program) sleb() int64 {
	before := p.rest
	n := p.uleb()
	const perByte = 7
	if bits := perByte * (len(before) - len(p.rest)); !p.bad && bits < 64 && n>>(bits-1) != 0 {
		n |= ^uint64(0) << bits
	}
	return int64(n)
}
