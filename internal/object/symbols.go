package object

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// symbol is an entry of the symbol table.
type symbol struct {
	elf.Sym64
	name string
	// index is the entry's index in the table, at its position in the file.
	index int
	at    uint64
}

func (s *symbol) kind() elf.SymType    { return elf.ST_TYPE(s.Info) }
func (s *symbol) binding() elf.SymBind { return elf.ST_BIND(s.Info) }

// symbolTable returns the wanted entries of the symbol table, in its order.
func (f *file) symbolTable(want func(*symbol) bool) (found []symbol) {
	i := slices.IndexFunc(f.sections, func(s section) bool { return elf.SectionType(s.Type) == elf.SHT_SYMTAB })
	if i < 0 {
		return nil
	}
	table := &f.sections[i]
	var names []byte
	if int(table.Link) < len(f.sections) {
		names = f.contents(&f.sections[table.Link])
	}
	entries := f.contents(table)
	size := binary.Size(elf.Sym64{})
	for index := range len(entries) / size {
		s := symbol{index: index, at: table.Off + uint64(index*size)}
		_, _ = binary.Decode(entries[index*size:], f.order, &s.Sym64)
		if want(&s) {
			s.name = text(names, s.Name)
			found = append(found, s)
		}
	}
	return found
}

// write writes a changed symbol to the file.
func (f *file) write(s *symbol) { _, _ = binary.Encode(f.data[s.at:], f.order, &s.Sym64) }

// symbols returns the symbols of a section by position, without local labels.
func (f *file) symbols(of int) []symbol {
	found := f.symbolTable(func(s *symbol) bool {
		label := s.kind() == elf.STT_NOTYPE && s.binding() == elf.STB_LOCAL
		return int(s.Shndx) == of && s.kind() != elf.STT_SECTION && !label
	})
	slices.SortStableFunc(found, func(a, b symbol) int { return cmp.Compare(a.Value, b.Value) })
	return found
}

// fixSymbols gives the functions and maps of old compilers the size and type
// that their symbols lack: LLVM wrote neither before version 8. It refuses
// symbols that overlap so much that reading them all would take too long.
func (f *file) fixSymbols() (changes []string, err error) {
	for i := range f.sections {
		sec := &f.sections[i]
		kind, what := elf.STT_OBJECT, "map"
		switch {
		case elf.SectionFlag(sec.Flags)&elf.SHF_EXECINSTR != 0:
			kind, what = elf.STT_FUNC, "function"
		case strings.HasPrefix(sec.name, "maps"):
		case isData(sec.name):
			what = ""
		default:
			continue
		}
		var covered uint64
		all := f.symbols(i)
		for j := range all {
			s := &all[j]
			if s.Size == 0 && s.kind() == elf.STT_NOTYPE && what != "" {
				end := sec.Size
				for _, next := range all[j+1:] {
					if next.Value > s.Value {
						end = next.Value
						break
					}
				}
				if s.Value >= end {
					continue
				}
				s.Size, s.Info = end-s.Value, elf.ST_INFO(s.binding(), kind)
				f.write(s)
				changes = append(changes, fmt.Sprintf("%s %s ends where the next one begins: its symbol has no type and no size", what, s.name))
			}
			if j > 0 && all[j-1].Value == s.Value {
				continue // another name for the same
			}
			if covered += min(s.Size, sec.Size); covered > 2*sec.Size {
				return nil, errors.New("it is malformed: its symbols overlap")
			}
		}
	}
	return changes, nil
}

func isData(section string) bool {
	return section == ".bss" || strings.HasPrefix(section, ".data") || strings.HasPrefix(section, ".rodata")
}
