package object

import (
	"debug/elf"
	"strings"
)

// fixBindings rebinds symbols that the parser refuses, though other linkers and
// loaders accept them: a weak definition becomes the definition, and a static
// map becomes a map of its own.
func (f *file) fixBindings() {
	static := map[uint16]map[uint64]int{} // maps, by section and place in it
	isStaticMap := func(s *symbol) bool {
		return s.binding() == elf.STB_LOCAL && s.kind() == elf.STT_OBJECT && int(s.Shndx) < len(f.sections) && holdsMaps(f.sections[s.Shndx].name)
	}
	for _, s := range f.symbolTable(func(s *symbol) bool {
		return isStaticMap(s) || s.binding() == elf.STB_WEAK && s.Shndx != uint16(elf.SHN_UNDEF)
	}) {
		if isStaticMap(&s) {
			if static[s.Shndx] == nil {
				static[s.Shndx] = map[uint64]int{}
			}
			static[s.Shndx][s.Value] = s.index
		}
		s.Info = elf.ST_INFO(elf.STB_GLOBAL, s.kind())
		f.write(&s)
	}
	if len(static) == 0 {
		return
	}
	// Compilers refer to static symbols by section and position.
	for r := range f.relocations() {
		if elf.ST_TYPE(r.symbol.Info) != elf.STT_SECTION {
			continue
		}
		if index, ok := static[r.symbol.Shndx][uint64(f.constant(r.ins))]; ok {
			r.refer(f, index)
			f.setConstant(r.ins, 0)
		}
	}
}

// holdsMaps reports whether a section holds definitions of maps.
func holdsMaps(section string) bool {
	return section == ".maps" || strings.HasPrefix(section, "maps")
}

// hidden returns the functions that nothing outside the object sees: libbpf
// makes the verifier follow them from their calls, like static ones.
func (f *file) hidden() map[string]bool {
	names := map[string]bool{}
	for _, s := range f.symbolTable(func(s *symbol) bool {
		v := elf.ST_VISIBILITY(s.Other)
		return s.kind() == elf.STT_FUNC && (v == elf.STV_HIDDEN || v == elf.STV_INTERNAL)
	}) {
		names[s.name] = true
	}
	return names
}
