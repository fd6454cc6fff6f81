package dwarf

import (
	"cmp"
	"path"
	"slices"
	"sort"
)

// lines is the table of lines of a unit (DWARF 5, 6.2).
type lines struct {
	unit      *unit
	version   int
	dirs      []value
	files     []file
	paths     map[uint64]string // of files, by their numbers
	sequences []sequence
	rows      []row
}

type file struct {
	name value
	dir  uint64
}

// sequence is a run of rows whose addresses ascend.
type sequence struct {
	low, high   uint64 // addresses
	first, last int    // rows
}

// row says that the code from an address up to that of the next row is of a line.
type row struct {
	addr uint64
	file uint32
	line int32
}

// program is the header of a table that its opcodes depend on.
type program struct {
	minInstruction uint64
	lineBase       int8
	lineRange      uint8
	opcodeBase     uint8
	arguments      [256]uint8 // the number of each opcode's
}

// readLines reads the table of lines of the unit, as far as it is well-formed.
func (u *unit) readLines() *lines {
	l := &lines{unit: u, paths: map[uint64]string{}}
	d := u.data
	if u.line.form == 0 {
		return l
	}
	c := newCursor(d.Line, u.line.n, d.Order)
	length, offsetSize := c.length()
	// The units that one was split into share a table.
	if c.bad || length > uint64(len(c.data)-c.at) || !d.take(length) {
		return l
	}
	c.data = c.data[:c.at+int(length)]
	if l.version = int(c.uint(2)); l.version < 2 || l.version > 5 {
		return l
	}
	if l.version >= 5 {
		c.bytes(2) // sizes of addresses and segment selectors
	}
	headerLength := c.uint(offsetSize)
	if headerLength > uint64(len(c.data)-c.at) {
		return l
	}
	body := newCursor(c.data, uint64(c.at)+headerLength, d.Order)
	var p program
	p.minInstruction = c.uint(1)
	if l.version >= 4 {
		c.uint(1) // operations in an instruction, of processors with very long ones
	}
	c.uint(1) // whether rows are statements
	p.lineBase, p.lineRange, p.opcodeBase = int8(c.uint(1)), uint8(c.uint(1)), uint8(c.uint(1))
	for i := 1; i < int(p.opcodeBase); i++ {
		p.arguments[i] = uint8(c.uint(1))
	}
	if c.bad || p.lineRange == 0 || p.opcodeBase == 0 {
		return l
	}
	if l.version >= 5 {
		l.dirs = columns(u.headers(&c), func(f file) value { return f.name })
		l.files = u.headers(&c)
	} else {
		l.readNames(&c)
	}
	if !body.bad {
		l.run(&body, &p)
	}
	slices.SortStableFunc(l.sequences, func(a, b sequence) int { return cmp.Compare(a.low, b.low) })
	return l
}

func columns(files []file, of func(file) value) []value {
	values := make([]value, len(files))
	for i, f := range files {
		values[i] = of(f)
	}
	return values
}

// readNames reads the folders and files of a table before DWARF 5 (DWARF 4, 6.2.4).
func (l *lines) readNames(c *cursor) {
	for {
		name := value{uint64(c.at), formString}
		if c.skipString(); c.bad || c.at == int(name.n)+1 || !l.unit.data.take(fileSize) {
			break
		}
		l.dirs = append(l.dirs, name)
	}
	for {
		name := value{uint64(c.at), formString}
		if c.skipString(); c.bad || c.at == int(name.n)+1 || !l.unit.data.take(fileSize) {
			break
		}
		l.files = append(l.files, file{name, c.uleb()})
		c.uleb() // time
		c.uleb() // size
	}
}

// headers reads the folders or files of a table since DWARF 5 (DWARF 5, 6.2.4.1).
func (u *unit) headers(c *cursor) []file {
	type field struct{ content, form uint64 }
	var fields []field
	for range c.uint(1) {
		fields = append(fields, field{c.uleb(), c.uleb()})
	}
	var files []file
	for count := c.uleb(); count > 0; count-- {
		before := c.at
		var f file
		for _, field := range fields {
			switch v := u.value(c, uint16(min(field.form, 0xffff)), 0); field.content {
			case 1: // path
				f.name = v
			case 2: // directory_index
				f.dir = v.n
			}
		}
		if c.bad || c.at == before || !u.data.take(fileSize) {
			break
		}
		files = append(files, f)
	}
	return files
}

// run makes the rows that a program says (DWARF 5, 6.2.5).
func (l *lines) run(c *cursor, p *program) {
	begin := row{file: 1, line: 1}
	r, first := begin, len(l.rows)
	special := func(opcode uint8) {
		r.addr += uint64(opcode/p.lineRange) * p.minInstruction
	}
	add := func() {
		if c.bad = c.bad || !l.unit.data.take(rowSize); !c.bad {
			l.rows = append(l.rows, r)
		}
	}
	for c.at < len(c.data) && !c.bad {
		opcode := uint8(c.uint(1))
		if opcode >= p.opcodeBase {
			opcode -= p.opcodeBase
			special(opcode)
			r.line += int32(p.lineBase) + int32(opcode%p.lineRange)
			add()
			continue
		}
		switch opcode {
		case 0x00: // an extended opcode, and its length
			operands := c.bytes(c.uleb())
			x := newCursor(operands, 0, c.order)
			switch x.uint(1) {
			case 0x01: // end_sequence
				if add(); !c.bad {
					l.endSequence(first)
				}
				r, first = begin, len(l.rows)
			case 0x02: // set_address
				r.addr = x.uint(len(operands) - 1)
			}
		case 0x01: // copy
			add()
		case 0x02: // advance_pc
			r.addr += c.uleb() * p.minInstruction
		case 0x03: // advance_line
			r.line += int32(c.sleb())
		case 0x04: // set_file
			r.file = uint32(c.uleb())
		case 0x08: // const_add_pc
			special(255 - p.opcodeBase)
		case 0x09: // fixed_advance_pc
			r.addr += c.uint(2)
		default: // what makes no difference here
			for range p.arguments[opcode] {
				c.uleb()
			}
		}
	}
	l.rows = l.rows[:first]
}

// endSequence makes a sequence of the rows from first on; the last one ends it.
// It drops code that the linker discarded.
func (l *lines) endSequence(first int) {
	rows := l.rows[first:]
	byAddress := func(a, b row) int { return cmp.Compare(a.addr, b.addr) }
	if !slices.IsSortedFunc(rows, byAddress) {
		slices.SortStableFunc(rows, byAddress)
	}
	s := sequence{rows[0].addr, rows[len(rows)-1].addr, first, len(l.rows) - 1}
	if s.low >= s.high || !l.unit.data.inCode(s.low) {
		l.rows = l.rows[:first]
		return
	}
	l.sequences = append(l.sequences, s)
}

// at returns the file and line of an address, or nothing. Of several rows of the
// address, the last one counts.
func (l *lines) at(addr uint64) (string, int) {
	i := sort.Search(len(l.sequences), func(i int) bool { return l.sequences[i].low > addr }) - 1
	if i < 0 || addr >= l.sequences[i].high {
		return "", 0
	}
	s := l.sequences[i]
	rows := l.rows[s.first:s.last]
	r := rows[sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr })-1]
	return l.path(uint64(r.file)), max(0, int(r.line))
}

// path returns the path of a file by its number, or an empty string.
func (l *lines) path(number uint64) string {
	p, ok := l.paths[number]
	if !ok {
		p = l.readPath(number)
		l.paths[number] = p
	}
	return p
}

// readPath makes the path of a file. Paths that are relative are so to the folder that
// the compiler ran in.
func (l *lines) readPath(number uint64) string {
	u := l.unit
	dir, compileDir := "", u.text(u.dir, u.data.Info)
	if l.version < 5 {
		number-- // they are numbered from 1
	}
	if number >= uint64(len(l.files)) {
		return ""
	}
	f := l.files[number]
	name := u.text(f.name, u.data.Line)
	if l.version < 5 {
		f.dir-- // 0 is the folder that the compiler ran in
	}
	if f.dir < uint64(len(l.dirs)) {
		dir = u.text(l.dirs[f.dir], u.data.Line)
	}
	if name == "" || path.IsAbs(name) {
		return name
	}
	for _, parent := range []string{dir, compileDir} {
		if parent != "" && !path.IsAbs(name) {
			name = parent + "/" + name
		}
	}
	return name
}
