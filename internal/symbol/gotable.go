package symbol

import (
	"bytes"
	"encoding/binary"
	"sort"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// goTable is the table of functions and lines that the runtime of Go has in every
// binary, also without debug information: .gopclntab, since Go 1.18. Its layout is
// that of internal/abi, runtime/symtab.go and cmd/link/internal/ld/pcln.go.
//
// Functions are those that were not inlined, because where the runtime finds the others
// is in no section of a binary without symbols; lines are also those of inlined code.
type goTable struct {
	order     binary.ByteOrder
	start     uint64 // the address that entries are relative to
	quantum   uint64 // the unit of addresses
	functions uint64
	// Parts of the table.
	names, units, files, values, entries []byte

	budget *budget.Budget
}

const (
	goMagic118 = 0xfffffff0
	goMagic120 = 0xfffffff1
)

// newGoTable returns the table of Go in a file, or nil. Symbols, which may be nil, say
// where Go's part of .text begins if it has others.
func newGoTable(m image, symbols *table) *goTable {
	var data []byte
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if data == nil {
			data, _ = m.data(name)
		}
	}
	text := m.Section(".text")
	if text == nil {
		return nil
	}
	t := parseGoTable(data, m.ByteOrder, text.Addr, text.Size, m.budget)
	if t == nil || symbols == nil {
		return t
	}
	if s := symbols.named("runtime.text"); s != nil {
		t.start = s.addr
	}
	return t
}

// parseGoTable reads the header of a table whose code is in a section at an address.
func parseGoTable(data []byte, order binary.ByteOrder, text, size uint64, left *budget.Budget) *goTable {
	if len(data) < 8 {
		return nil
	}
	t := &goTable{order: order, start: text, quantum: uint64(data[6]), budget: left}
	if magic := order.Uint32(data); magic != goMagic118 && magic != goMagic120 {
		return nil
	}
	word := int(data[7])
	if word != 4 && word != 8 || len(data) < 8+8*word {
		return nil
	}
	header := func(i int) uint64 {
		if word == 4 {
			return uint64(order.Uint32(data[8+i*word:]))
		}
		return order.Uint64(data[8+i*word:])
	}
	t.functions = header(0)
	t.names, t.units, t.files = from(data, header(3)), from(data, header(4)), from(data, header(5))
	t.values, t.entries = from(data, header(6)), from(data, header(7))
	if t.functions == 0 || t.functions > uint64(len(t.entries))/8 {
		return nil
	}
	// The header has the address before it is relocated, or 0.
	if a := header(2); a > text && a < text+size {
		t.start = a
	}
	return t
}

// from returns the data from an offset on.
func from(data []byte, at uint64) []byte {
	return data[min(at, uint64(len(data))):]
}

// at returns the number at an offset of a part, or all ones if there is none.
func (t *goTable) at(data []byte, offset uint64) uint32 {
	if data = from(data, offset); len(data) >= 4 {
		return t.order.Uint32(data)
	}
	return ^uint32(0)
}

// after returns the number of the function after the one that has an address, or 0. Each
// function has the offsets of its code and its description. The last one ends where the code
// does.
func (t *goTable) after(addr uint64) uint64 {
	if addr < t.start {
		return 0
	}
	i := uint64(sort.Search(int(t.functions)+1, func(i int) bool { return uint64(t.at(t.entries, uint64(i)*8)) > addr-t.start }))
	if i > t.functions {
		return 0
	}
	return i
}

// extent returns where the function at an address begins and ends.
func (t *goTable) extent(addr uint64) (start, end uint64, ok bool) {
	i := t.after(addr)
	if i == 0 {
		return 0, 0, false
	}
	return t.start + uint64(t.at(t.entries, i*8-8)), t.start + uint64(t.at(t.entries, i*8)), true
}

// frame returns the function and the line of an address.
func (t *goTable) frame(addr uint64) (Frame, bool) {
	i := t.after(addr)
	if i == 0 {
		return Frame{}, false
	}
	relative := addr - t.start
	function := from(t.entries, uint64(t.at(t.entries, i*8-4)))
	entry := uint64(t.at(function, 0))
	frame := Frame{Func: goString(t.names, t.at(function, 4))}
	if frame.Func == "" || entry > relative {
		return Frame{}, false
	}
	if line := t.value(t.at(function, 24), entry, relative); line > 0 {
		frame.Line = int(line)
	}
	if file := t.value(t.at(function, 20), entry, relative); file >= 0 {
		frame.File = goString(t.files, t.at(t.units, 4*(uint64(t.at(function, 32))+uint64(file))))
	}
	return frame, true
}

// value returns the value that a table of values has for an address, or -1. Tables are
// pairs: by how much the value changes, and how long it stays.
func (t *goTable) value(table uint32, addr, relative uint64) int32 {
	data := from(t.values, uint64(table))
	value := int32(-1)
	for first := true; ; first = false {
		change, n := binary.Uvarint(data)
		if n <= 0 || change == 0 && !first {
			return -1
		}
		length, m := binary.Uvarint(data[n:])
		// Nothing else bounds how often a long table is walked.
		if m <= 0 || !t.budget.Take(uint64(n+m)) {
			return -1
		}
		data = data[n+m:]
		value += int32(uint32(change)>>1) ^ -int32(uint32(change)&1)
		if addr += length * t.quantum; addr > relative {
			return value
		}
	}
}

func goString(data []byte, at uint32) string {
	data = from(data, uint64(at))
	end := bytes.IndexByte(data[:min(len(data), maxName)], 0)
	if end < 0 {
		return ""
	}
	return string(data[:end])
}
