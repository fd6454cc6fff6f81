package symbol

import (
	"bytes"
	"cmp"
	"debug/elf"
	"math"
	"slices"
	"sort"
	"unsafe"
)

// table is a list of symbols, sorted by address. Their names are in one text, because
// there are hundreds of thousands of them.
type table struct {
	text    []byte
	symbols []symbol
}

type symbol struct {
	addr, size   uint64
	name, length uint32 // in the text
	rank         uint8  // the one with the largest rank of an address counts
	open         bool   // it ends before size where another one begins
	other        bool   // not of code: it only ends the one before
}

const symbolSize = uint64(unsafe.Sizeof(symbol{}))

// sort sorts the symbols, and leaves one of each address, the first that has the
// largest rank.
func (t *table) sort() {
	slices.SortStableFunc(t.symbols, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(b.rank, a.rank))
	})
	t.symbols = slices.CompactFunc(t.symbols, func(a, b symbol) bool { return a.addr == b.addr })
	for i := range t.symbols[:max(0, len(t.symbols)-1)] {
		if s := &t.symbols[i]; s.open {
			s.size = min(s.size, t.symbols[i+1].addr-s.addr)
		}
	}
}

// maxNested is how many symbols before an address may be too small to reach it, when
// the one that reaches it is looked for.
const maxNested = 16

// at returns the symbol that has an address, or nil.
func (t *table) at(addr uint64) *symbol {
	i := sort.Search(len(t.symbols), func(i int) bool { return t.symbols[i].addr > addr }) - 1
	for last := i - maxNested; i >= 0 && i > last; i-- {
		s := &t.symbols[i]
		if addr-s.addr < s.size {
			if s.other {
				return nil
			}
			return s
		}
	}
	return nil
}

func (t *table) name(s *symbol) string {
	return string(t.text[s.name : s.name+s.length])
}

// maxName bounds the names of symbols in bytes: many symbols can have one long name.
const maxName = 16 << 10

// symbolTable returns the functions of a section with symbols, and of the section with
// their names.
func (m image) symbolTable(name, names string) *table {
	t := &table{}
	data, err := m.data(name)
	if err != nil {
		return t
	}
	if t.text, err = m.data(names); err != nil || len(t.text) > math.MaxUint32 {
		return &table{}
	}
	size := 24
	if m.Class == elf.ELFCLASS32 {
		size = 16
	}
	if !m.budget.Take(uint64(len(data)/size) * symbolSize) {
		return &table{}
	}
	for ; len(data) >= size; data = data[size:] {
		var (
			s       symbol
			info    byte
			section uint16
		)
		s.name = m.ByteOrder.Uint32(data)
		if m.Class == elf.ELFCLASS32 {
			s.addr, s.size = uint64(m.ByteOrder.Uint32(data[4:])), uint64(m.ByteOrder.Uint32(data[8:]))
			info, section = data[12], m.ByteOrder.Uint16(data[14:])
		} else {
			info, section = data[4], m.ByteOrder.Uint16(data[6:])
			s.addr, s.size = m.ByteOrder.Uint64(data[8:]), m.ByteOrder.Uint64(data[16:])
		}
		if m.isFunction(&s, t.text, elf.ST_TYPE(info), elf.ST_BIND(info), section) {
			t.symbols = append(t.symbols, s)
		}
	}
	t.sort()
	return t
}

// isFunction sets the rank and the length of the name of a symbol of code.
func (m image) isFunction(s *symbol, text []byte, kind elf.SymType, bind elf.SymBind, section uint16) bool {
	switch kind {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		s.rank = 4
	case elf.STT_NOTYPE:
		if s.size > 0 {
			s.rank = 2
		}
	default:
		return false
	}
	if bind == elf.STB_GLOBAL {
		s.rank++
	}
	if int(section) >= len(m.Sections) || section == 0 || m.Sections[section].Flags&elf.SHF_EXECINSTR == 0 {
		return false
	}
	if end := m.Sections[section].Addr + m.Sections[section].Size; s.size == 0 && s.addr < end {
		s.size, s.open = end-s.addr, true
	}
	if uint64(s.name) >= uint64(len(text)) {
		return false
	}
	name := text[s.name:min(uint64(s.name)+maxName, uint64(len(text)))]
	length := bytes.IndexByte(name, 0)
	// Names with a dollar mark data within code, on ARM and RISC-V.
	if length <= 0 || name[0] == '$' {
		return false
	}
	s.length = uint32(length)
	return true
}

// named returns the symbol with a name, or nil.
func (t *table) named(name string) *symbol {
	for i := range t.symbols {
		if s := &t.symbols[i]; int(s.length) == len(name) && t.name(s) == name {
			return s
		}
	}
	return nil
}
