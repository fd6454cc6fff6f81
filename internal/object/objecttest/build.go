// Package objecttest makes ELF objects for tests: small ones from given
// sections and symbols, as by compilers that are not available, and malformed
// ones from real ones.
package objecttest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// Section is a section of an object.
type Section struct {
	Name  string
	Type  elf.SectionType // 0 means PROGBITS
	Flags elf.SectionFlag
	Data  []byte
	// Size is the size in the header of a section without contents.
	Size uint64
}

// Symbol is a symbol of a section, by its name.
type Symbol struct {
	Name, Section string
	Bind          elf.SymBind
	Type          elf.SymType
	Value, Size   uint64
}

// Relocation makes an instruction refer to a symbol.
type Relocation struct {
	Section string
	Offset  uint64
	Symbol  string
}

// Object describes an ELF object.
type Object struct {
	Order       binary.ByteOrder // nil means little endian
	Sections    []Section
	Symbols     []Symbol
	Relocations []Relocation
}

// Exit has instructions that return 2, like an XDP program that passes a
// packet.
var Exit = []byte{0xb7, 0, 0, 0, 2, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0}

// Build writes the object.
func (o *Object) Build() []byte {
	order := o.Order
	if order == nil {
		order = binary.LittleEndian
	}
	encode := func(v any) []byte {
		b := make([]byte, binary.Size(v))
		_, _ = binary.Encode(b, order, v)
		return b
	}
	sections := slices.Concat([]Section{{Type: elf.SHT_NULL}}, o.Sections)
	index := func(name string) int {
		return max(slices.IndexFunc(sections, func(s Section) bool { return s.Name == name }), 0)
	}
	strings := []byte{0}
	text := func(s string) uint32 {
		at := len(strings)
		strings = append(append(strings, s...), 0)
		return uint32(at)
	}
	symbols := encode(elf.Sym64{})
	symbolIndex := map[string]int{}
	for i, s := range o.Symbols {
		symbolIndex[s.Name] = i + 1
		symbols = append(symbols, encode(elf.Sym64{Name: text(s.Name), Info: elf.ST_INFO(s.Bind, s.Type), Shndx: uint16(index(s.Section)), Value: s.Value, Size: s.Size})...)
	}
	symtab := len(sections)
	sections = append(sections, Section{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: symbols})
	for _, target := range o.Sections {
		var rels []byte
		for _, r := range o.Relocations {
			if r.Section == target.Name {
				const bpf6464 = 1
				rels = append(rels, encode(elf.Rel64{Off: r.Offset, Info: elf.R_INFO(uint32(symbolIndex[r.Symbol]), bpf6464)})...)
			}
		}
		if rels != nil {
			sections = append(sections, Section{Name: ".rel" + target.Name, Type: elf.SHT_REL, Data: rels})
		}
	}
	sections = append(sections, Section{Name: ".strtab", Type: elf.SHT_STRTAB})
	headers := make([]elf.Section64, len(sections))
	for i, s := range sections {
		headers[i] = elf.Section64{Name: text(s.Name), Type: uint32(s.Type), Flags: uint64(s.Flags), Addralign: 8, Size: uint64(len(s.Data)) + s.Size}
		switch s.Type {
		case elf.SHT_NULL:
			if i > 0 {
				headers[i].Type = uint32(elf.SHT_PROGBITS)
			}
		case elf.SHT_SYMTAB:
			headers[i].Link, headers[i].Info, headers[i].Entsize = uint32(len(sections)-1), 1, uint64(binary.Size(elf.Sym64{}))
		case elf.SHT_REL:
			headers[i].Link, headers[i].Info, headers[i].Entsize = uint32(symtab), uint32(index(s.Name[len(".rel"):])), 16
		}
	}
	sections[len(sections)-1].Data, headers[len(sections)-1].Size = strings, uint64(len(strings))

	var out bytes.Buffer
	out.Write(make([]byte, binary.Size(elf.Header64{})))
	for i, s := range sections {
		out.Write(make([]byte, -out.Len()&7))
		headers[i].Off = uint64(out.Len())
		out.Write(s.Data)
	}
	out.Write(make([]byte, -out.Len()&7))
	h := elf.Header64{
		Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_BPF), Version: 1, Shoff: uint64(out.Len()),
		Ehsize: 64, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1),
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	if order == binary.BigEndian {
		h.Ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	for i := range headers {
		out.Write(encode(&headers[i]))
	}
	object := out.Bytes()
	copy(object, encode(&h))
	return object
}
