package dwarf

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

func TestNumbersAreRead(t *testing.T) {
	// Examples of DWARF 5, 7.6.
	for _, c := range []struct {
		data     []byte
		unsigned uint64
		signed   int64
	}{
		{[]byte{2}, 2, 2},
		{[]byte{127}, 127, -1},
		{[]byte{0x80, 1}, 128, 128},
		{[]byte{0x81, 0x7f}, 16257, -127},
	} {
		u, s := newCursor(c.data, 0, binary.LittleEndian), newCursor(c.data, 0, binary.LittleEndian)
		if got := u.uleb(); got != c.unsigned || u.bad || u.at != len(c.data) {
			t.Errorf("% x: %d, want %d", c.data, got, c.unsigned)
		}
		if got := s.sleb(); got != c.signed || s.bad {
			t.Errorf("% x: %d, want %d", c.data, got, c.signed)
		}
	}
	c := newCursor([]byte{1, 2, 3, 0x80}, 0, binary.LittleEndian)
	if n := c.uint(3); n != 0x030201 {
		t.Errorf("%#x", n)
	}
	if c.uleb(); !c.bad {
		t.Error("a number without an end was read")
	}
	if c := newCursor(nil, 1, binary.LittleEndian); !c.bad {
		t.Error("a cursor is past the end")
	}
}

func TestTheInnermostSpanCounts(t *testing.T) {
	for name, c := range map[string]struct {
		spans []span
		want  steps
	}{
		"none":          {nil, nil},
		"nested":        {[]span{{10, 50, 0}, {20, 30, 1}, {22, 24, 2}, {60, 70, 3}}, steps{{10, 0}, {20, 1}, {22, 2}, {24, 1}, {30, 0}, {50, -1}, {60, 3}, {70, -1}}},
		"equal":         {[]span{{10, 20, 0}, {10, 20, 1}}, steps{{10, 0}, {10, 1}, {20, -1}}},
		"unsorted":      {[]span{{20, 30, 1}, {10, 50, 0}}, steps{{10, 0}, {20, 1}, {30, 0}, {50, -1}}},
		"adjacent":      {[]span{{10, 20, 0}, {20, 30, 1}}, steps{{10, 0}, {20, -1}, {20, 1}, {30, -1}}},
		"overlapping":   {[]span{{10, 30, 0}, {20, 40, 1}}, steps{{10, 0}, {20, 1}, {40, -1}}},
		"up to the end": {[]span{{10, ^uint64(0), 0}}, steps{{10, 0}, {^uint64(0), -1}}},
	} {
		got := innermost(c.spans)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if !slices.IsSortedFunc(got, func(a, b step) int { return int(int64(a.at>>1) - int64(b.at>>1)) }) {
			t.Errorf("%s: not sorted", name)
		}
	}
	s := innermost([]span{{10, 50, 0}, {20, 30, 1}})
	for addr, want := range map[uint64]int32{0: -1, 9: -1, 10: 0, 20: 1, 29: 1, 30: 0, 49: 0, 50: -1} {
		if got := s.of(addr); got != want {
			t.Errorf("%d: %d, want %d", addr, got, want)
		}
	}
}

// A table of lines that claims to have many files takes no memory for them.
func TestClaimsTakeNoMemory(t *testing.T) {
	le := binary.LittleEndian
	header := []byte{
		1, 1, 1, 0xfb, 14, 1, // instructions, operations, statements, line base and range, opcode base
		0, 0, // no format, and no folders
		0,                                  // files without a format
		0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, // how many
	}
	body := append([]byte{5, 0, 8, 0}, le.AppendUint32(nil, uint32(len(header)))...)
	body = append(body, header...)
	line := append(le.AppendUint32(nil, uint32(len(body))), body...)
	u := &unit{data: &Data{Sections: Sections{Order: le, Line: line}}, addrSize: 8, offsetSize: 4, line: value{0, formSecOffset}}
	if l := u.readLines(); l.version != 5 || len(l.files) != 0 {
		t.Errorf("version %d, %d files", l.version, len(l.files))
	}
}

// The rows of a table do not begin before it, where they would be read for each unit.
func TestRowsAreInTheirTable(t *testing.T) {
	le := binary.LittleEndian
	row := append([]byte{0, 9, 2, 0, 16, 0, 0, 0, 0, 0, 0}, 1, 2, 8, 1, 0, 1, 1)
	for _, c := range []struct {
		name      string
		before    int // rows before the table
		length    uint64
		sequences int
	}{{"in it", 0, 17, 1}, {"before it", 1, ^uint64(len(row) + 12 + 2 + 8 - 1), 0}} {
		line := bytes.Repeat(row, c.before)
		at := len(line)
		body := append(le.AppendUint64([]byte{4, 0}, c.length), 1, 1, 1, 0, 1, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1)
		body = append(body, 0, 0)
		body = append(body, row...)
		line = le.AppendUint32(line, 0xffffffff)
		line = append(le.AppendUint64(line, uint64(len(body))), body...)
		u := &unit{data: &Data{Sections: Sections{Order: le, Line: line}}, addrSize: 8, offsetSize: 8, line: value{uint64(at), formSecOffset}}
		if l := u.readLines(); len(l.sequences) != c.sequences {
			t.Errorf("%s: %d sequences", c.name, len(l.sequences))
		}
	}
}

// Tables that overlap are read as far as the budget reaches, and no further.
func TestOverlappingTablesAreBounded(t *testing.T) {
	var abbrevs []byte
	for i := range 1000 {
		abbrevs = append(abbrevs, byte(i%127+1), tagCompileUnit, 0, 0, 0)
	}
	d := &Data{Sections: Sections{Order: binary.LittleEndian, Abbrev: append(abbrevs, 0)}, budget: budget.New(3000 * int64(abbrevSize))}
	read := 0
	for i := range 1000 {
		read += len(d.readAbbrevs(uint64(5 * i)))
	}
	if read != 3000 || !d.exceeded {
		t.Errorf("%d abbreviations were read, %t", read, d.exceeded)
	}
}

// section writes what a section has.
type section []byte

func (s section) add(bytes ...byte) section { return append(s, bytes...) }

func (s section) word(n int) section { return binary.LittleEndian.AppendUint32(s, uint32(n)) }

// unitOf5 returns a unit of DWARF 5 with entries.
func unitOf5(entries []byte) section {
	body := section{5, 0, unitCompile, 8}.word(0)
	body = append(body, entries...)
	return append(section{}.word(len(body)), body...)
}

// Files that claim, refer to or repeat much take no more than the budget, and then have no
// calls.
func TestHostileFilesKeepToTheBudget(t *testing.T) {
	const size = 4 << 20
	// At 1, all of the code; at 2, functions within it without a name; at 3, those with one
	// in place; at 4, attributes that take no bytes; at 5, those with ranges; at 6, those with the file of a call.
	low := []byte{attrLow, formAddrx, attrHigh, formUdata}
	abbrev := section{1, tagCompileUnit, 1}.add(low...).add(attrLine, formSecOffset, 0, 0)
	abbrev = abbrev.add(2, tagSubprogram, 1).add(low...).add(0, 0)
	abbrev = abbrev.add(3, tagInlinedSubroutine, 0).add(low...).add(attrName, formString, attrOrigin, formRefUdata, 0, 0)
	abbrev = abbrev.add(4, tagSubprogram, 1)
	for range 10_000 {
		abbrev = abbrev.add(attrDir, formFlagPresent)
	}
	abbrev = abbrev.add(0, 0, 5, tagSubprogram, 0, attrRanges, formSecOffset, 0, 0)
	abbrev = abbrev.add(6, tagInlinedSubroutine, 1).add(low...).add(attrCallFile, formUdata, 0, 0, 0)
	first := section{1, 0, 100}.word(0) // from the first address, 100 bytes, lines at 0
	repeat := bytes.Repeat
	// A table of lines: minimum instruction, operations, statements, line base and range, opcode
	// base, no arguments, and files of DWARF 4 before opcodes.
	lines := func(files, opcodes []byte) []byte {
		header := section{1, 1, 1, 0, 1, 1}
		header = append(header, files...)
		body := append(section{4, 0}.word(len(header)), header...)
		body = append(body, opcodes...)
		return append(section{}.word(len(body)), body...)
	}
	// Calls of each other, each in another file, all of which have the same long name.
	var calls section
	for i := range maxCalls {
		calls = calls.add(6, 0, 9, byte(i)|0x80, byte(i>>7))
	}
	files := section{1, 1, 1, 0, 1, 1, 0, 0, 1, 1, formLineStrp, 0x80, 4}.add(make([]byte, 4*maxCalls)...)
	body := append(section{5, 0, 8, 0}.word(len(files)), files...)
	longFiles := append(section{}.word(len(body)), body...)
	long := append(repeat([]byte{'x'}, maxText-1), 0)
	lists := append(repeat([]byte{4, 0, 9}, 1<<16), 0)
	for _, c := range []struct {
		name    string
		exceeds bool
		Sections
	}{
		{"a hole", false, Sections{Info: make([]byte, 64<<20)}},
		{"units", true, Sections{Info: repeat(unitOf5(first), 1<<20)}},
		{"functions", true, Sections{Info: unitOf5(append(first, repeat([]byte{2, 0, 9, 0}, 4<<20)...))}},
		{"nested functions", false, Sections{Info: unitOf5(append(first, repeat([]byte{2, 0, 9}, 4<<20)...))}},
		{"attributes without bytes", true, Sections{Info: unitOf5(append(first, repeat([]byte{4}, 1<<20)...))}},
		{"a long name", true, Sections{Info: unitOf5(append(append(first.add(3, 0, 9), repeat([]byte{'x'}, 16<<20)...), 0, 22))}},
		{"rows", true, Sections{Info: unitOf5(first), Line: lines([]byte{0, 0}, repeat([]byte{2}, 4<<20))}},
		{"files", true, Sections{Info: unitOf5(first), Line: lines(append(section{0}, repeat([]byte("f\x00\x00\x00\x00"), 1<<20)...), nil)}},
		{"a long path", true, Sections{Info: unitOf5(first), Line: lines(append(repeat([]byte{'x'}, 16<<20), 0, 0, 0), nil)}},
		{"a long path of many files", true, Sections{Info: unitOf5(append(first, calls...)), Line: longFiles, LineStr: long}},
		{"a shared list of ranges", true, Sections{Info: unitOf5(append(first, repeat([]byte{5, 0, 0, 0, 0}, 1<<10)...)), RngLists: lists}},
	} {
		c.Order, c.Abbrev, c.Addr = binary.LittleEndian, abbrev, binary.LittleEndian.AppendUint64(nil, 0x1000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d := New(c.Sections, nil, budget.New(size))
		calls := d.Calls(0x1004)
		runtime.ReadMemStats(&after)
		if d.exceeded != c.exceeds || c.exceeds && calls != nil {
			t.Errorf("%s: exceeded %t, %d calls", c.name, d.exceeded, len(calls))
		}
		// Slices that grow are copied several times.
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*size {
			t.Errorf("%s: %d bytes were allocated", c.name, took)
		}
	}
}
