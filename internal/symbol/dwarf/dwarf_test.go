package dwarf

import (
	"encoding/binary"
	"slices"
	"testing"
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
	u := &unit{data: &Data{Sections: Sections{Order: le, Line: line}, linesLeft: 1000}, addrSize: 8, offsetSize: 4, line: value{0, formSecOffset}}
	if l := u.readLines(); l.version != 5 || len(l.files) != 0 {
		t.Errorf("version %d, %d files", l.version, len(l.files))
	}
}

// Tables that overlap are read up to the size of the section, and no more.
func TestOverlappingTablesAreBounded(t *testing.T) {
	var abbrevs []byte
	for i := range 1000 {
		abbrevs = append(abbrevs, byte(i%127+1), tagCompileUnit, 0, 0, 0)
	}
	d := &Data{Sections: Sections{Order: binary.LittleEndian, Abbrev: append(abbrevs, 0)}}
	d.abbrevsLeft = 2 * len(d.Abbrev)
	read := 0
	for i := range 1000 {
		read += len(d.readAbbrevs(uint64(5 * i)))
	}
	if read > 3000 {
		t.Errorf("%d abbreviations were read", read)
	}
}
