package dwarf

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

// unit is a unit of .debug_info (DWARF 5, 7.5.1).
type unit struct {
	data       *Data
	header     int // offset in .debug_info, as are the next two
	first      int // of its first entry
	end        int
	version    int
	addrSize   int
	offsetSize int
	abbrevs    []abbrev
	// What the first entry says of the unit.
	low                        uint64 // ranges are relative to it
	addrBase, rngBase, strBase uint64
	dir, line                  value
	// functions and lines are read when an address of the unit is looked up.
	functions *functions
	lines     *lines
}

// abbrev is what entries of one form consist of (DWARF 5, 7.5.3).
type abbrev struct {
	code, tag  uint64
	children   bool
	attributes []attribute
}

type attribute struct {
	name, form uint16
	constant   int64
}

// readUnits reads the headers of all units, and the first entry of each. It skips
// units of types and of unknown versions, and stops at the first that exceeds its
// section.
func (d *Data) readUnits() {
	tables := map[uint64][]abbrev{}
	for at := 0; at < len(d.Info); {
		if bytes.HasPrefix(d.Info[at:], []byte{0, 0, 0, 0}) { // padding, or a hole in the file
			at += 4
			continue
		}
		c := newCursor(d.Info, uint64(at), d.Order)
		length, offsetSize := c.length()
		if c.bad || length > uint64(len(d.Info)-c.at) || !d.take(unitSize) {
			return
		}
		u := &unit{data: d, header: at, end: c.at + int(length), offsetSize: offsetSize}
		at = u.end
		u.version = int(c.uint(2))
		kind := uint64(unitCompile)
		var table uint64
		if u.version >= 5 {
			kind = c.uint(1)
			u.addrSize = int(c.uint(1))
			table = c.uint(offsetSize)
		} else {
			table = c.uint(offsetSize)
			u.addrSize = int(c.uint(1))
		}
		if kind == unitSkeleton {
			c.bytes(8)
		}
		u.first = c.at
		if kind != unitCompile && kind != unitPartial && kind != unitSkeleton || c.bad ||
			u.version < 2 || u.version > 5 || u.addrSize != 4 && u.addrSize != 8 {
			continue
		}
		if _, ok := tables[table]; !ok {
			tables[table] = d.readAbbrevs(table)
		}
		u.abbrevs = tables[table]
		if u.readFirst() {
			d.units = append(d.units, u)
		}
	}
}

// readFirst reads the first entry of the unit.
func (u *unit) readFirst() bool {
	var e entry
	c := newCursor(u.data.Info[:u.end], uint64(u.first), u.data.Order)
	if !u.next(&c, &e) || e.tag == 0 {
		return false
	}
	u.addrBase, u.rngBase, u.strBase = e.addrBase.n, e.rngBase.n, e.strBase.n
	u.dir, u.line = e.dir, e.line
	// The bases may follow what is relative to them.
	if e.low.form != 0 {
		u.low = u.address(e.low)
	}
	if e.tag == tagCompileUnit || e.tag == tagSkeletonUnit {
		u.data.spans = u.appendRanges(u.data.spans, &e, int32(len(u.data.units)))
	}
	return true
}

// readAbbrevs reads the table of abbreviations at an offset of .debug_abbrev. Those of
// compilers do not overlap; those of others can, and each takes of the budget.
func (d *Data) readAbbrevs(at uint64) []abbrev {
	var table []abbrev
	c := newCursor(d.Abbrev, at, d.Order)
	for {
		a := abbrev{code: c.uleb()}
		if a.code == 0 || c.bad || !d.take(abbrevSize) {
			break
		}
		a.tag, a.children = c.uleb(), c.uint(1) != 0
		for !c.bad {
			name, form := c.uleb(), c.uleb()
			if name == 0 && form == 0 || !d.take(attributeSize) {
				break
			}
			b := attribute{name: uint16(min(name, 0xffff)), form: uint16(min(form, 0xffff))}
			if b.form == formImplicitConst {
				b.constant = c.sleb()
			}
			a.attributes = append(a.attributes, b)
		}
		table = append(table, a)
	}
	slices.SortStableFunc(table, func(a, b abbrev) int { return cmp.Compare(a.code, b.code) })
	return table
}

// abbrev returns the abbreviation with a code, or nil. Compilers number them from 1.
func (u *unit) abbrev(code uint64) *abbrev {
	if i := code - 1; i < uint64(len(u.abbrevs)) && u.abbrevs[i].code == code {
		return &u.abbrevs[i]
	}
	i, ok := slices.BinarySearchFunc(u.abbrevs, code, func(a abbrev, code uint64) int { return cmp.Compare(a.code, code) })
	if !ok {
		return nil
	}
	return &u.abbrevs[i]
}

// unitOf returns the unit that has the entry at an offset, or nil.
func (d *Data) unitOf(at uint64) *unit {
	i := sort.Search(len(d.units), func(i int) bool { return uint64(d.units[i].header) > at }) - 1
	if i < 0 || at < uint64(d.units[i].first) || at >= uint64(d.units[i].end) {
		return nil
	}
	return d.units[i]
}
