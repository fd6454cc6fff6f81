// Package dwarf finds the functions, the inlined calls and the lines of source that an
// address belongs to, in debug information of the versions 2 to 5.
//
// It reads files of strangers, unlike debug/dwarf, which allocates as much as a table
// claims to have, and reads all abbreviations again for each unit that names another
// offset of them. What is read, and what is made of it, takes of a budget; what is
// malformed is left out. Units are read when an address of them is looked up, and only for
// functions and lines.
//
// It does not read split debug information (.dwo): of such units it finds the lines
// alone.
package dwarf

import (
	"encoding/binary"
	"unsafe"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// Sections are the sections of a file, without compression; missing ones are nil. They
// are not changed.
type Sections struct {
	Order                                                                binary.ByteOrder
	Info, Abbrev, Str, Line, LineStr, Ranges, RngLists, Addr, StrOffsets []byte
}

// Code is a range of addresses of code, from Low up to High.
type Code struct{ Low, High uint64 }

// Data is the debug information of a file. It is not safe for concurrent use.
type Data struct {
	Sections
	// Alt is the file that entries and strings are shared with (DWARF 5, 7.3.6, and
	// DW_FORM_GNU_ref_alt, which dwz writes), nil if there is none.
	Alt   *Data
	code  []Code
	units []*unit
	spans []span // of units, until all are read
	steps steps  // of units

	budget   *budget.Budget
	exceeded bool
}

// New reads the units of a file. Addresses outside code are ignored, unless code is nil. What
// is made of the sections, but not they themselves, takes of the budget.
func New(s Sections, code []Code, b *budget.Budget) *Data {
	d := &Data{Sections: s, code: code, budget: b}
	d.readUnits()
	d.steps, d.spans = innermost(d.spans), nil
	return d
}

// The sizes of what sections are made into, in bytes.
const (
	unitSize      = uint64(unsafe.Sizeof(unit{}) + unsafe.Sizeof(&unit{}))
	abbrevSize    = uint64(unsafe.Sizeof(abbrev{}))
	attributeSize = uint64(unsafe.Sizeof(attribute{}))
	functionSize  = uint64(unsafe.Sizeof(function{}))
	spanSize      = uint64(unsafe.Sizeof(span{}) + 2*unsafe.Sizeof(step{}))
	rowSize       = uint64(unsafe.Sizeof(row{}) + unsafe.Sizeof(sequence{})/2) // a sequence has two at least
	fileSize      = uint64(unsafe.Sizeof(file{}) + unsafe.Sizeof(value{}))
)

// take takes bytes of the budget, and reports whether there were as many. If not, there are no
// calls any more: those that are known would be wrong without those that are not.
func (d *Data) take(n uint64) bool {
	d.exceeded = d.exceeded || !d.budget.Take(n)
	return !d.exceeded
}

func (d *Data) inCode(addr uint64) bool {
	for _, c := range d.code {
		if c.Low <= addr && addr < c.High {
			return true
		}
	}
	return d.code == nil
}

// Call is a function at an address, or one that calls it.
type Call struct {
	// Name is the linkage name if Linkage is true, else the name in the source, or empty
	// if there is neither.
	Name    string
	Linkage bool
	// Entry is where the first range of the function begins.
	Entry uint64
	// File and Line are those of the address, or of the call; empty and 0 if unknown.
	File string
	Line int
	// Inlined says that the next Call is of the function that this one was inlined in.
	Inlined bool
}

// maxCalls bounds the functions that are inlined in each other.
const maxCalls = 512

// Calls returns the function at an address: if it was inlined, followed by the one that
// calls it, and so on. If there are several at the same address, the innermost counts.
// It returns nil if neither a function nor a line is known.
func (d *Data) Calls(addr uint64) []Call {
	calls := d.calls(addr)
	if d.exceeded || d.Alt != nil && d.Alt.exceeded {
		return nil
	}
	return calls
}

func (d *Data) calls(addr uint64) []Call {
	i := d.steps.of(addr)
	if i < 0 {
		return nil
	}
	u := d.units[i]
	if u.functions == nil {
		u.functions, u.lines = u.readFunctions(), u.readLines()
	}
	file, line := u.lines.at(addr)
	at := u.functions.steps.of(addr)
	if at < 0 && file == "" {
		return nil
	}
	if at < 0 {
		return []Call{{File: file, Line: line, Entry: addr}}
	}
	var calls []Call
	for at >= 0 && len(calls) < maxCalls && !d.exceeded {
		f := &u.functions.all[at]
		if !f.named {
			f.name, f.linkage = d.nameOf(f.entry)
			f.named = true
		}
		calls = append(calls, Call{f.name, f.linkage, f.low, file, line, f.inlined})
		if !f.inlined {
			break
		}
		file, line = u.lines.path(uint64(f.callFile)), max(0, int(f.callLine))
		at = f.parent
	}
	return calls
}
