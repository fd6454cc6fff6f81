// Package dwarf finds the functions, the inlined calls and the lines of source that an
// address belongs to, in debug information of the versions 2 to 5.
//
// It reads files of strangers, unlike debug/dwarf, which allocates as much as a table
// claims to have, and reads all abbreviations again for each unit that names another
// offset of them. Memory and time are in proportion to the size of the sections: what
// exceeds that, or is malformed, is left out. Units are read when an address of them is
// looked up, and only for functions and lines.
//
// It does not read split debug information (.dwo): of such units it finds the lines
// alone.
package dwarf

import "encoding/binary"

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
	// What may still be read, in bytes and ranges.
	abbrevsLeft, rangesLeft, linesLeft int
}

// New reads the units of a file. Addresses outside code are ignored, unless code is nil.
func New(s Sections, code []Code) *Data {
	d := &Data{Sections: s, code: code}
	// Well-formed files have one reference to each table of these, except those of
	// lines: the units that one was split into share it.
	d.abbrevsLeft = 2*len(s.Abbrev) + 1
	d.rangesLeft = 4 * (len(s.Ranges) + len(s.RngLists))
	d.linesLeft = 8 * len(s.Line)
	d.readUnits()
	d.steps, d.spans = innermost(d.spans), nil
	return d
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
	for at >= 0 && len(calls) < maxCalls {
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
