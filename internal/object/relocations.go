package object

import (
	"debug/elf"
	"encoding/binary"
	"iter"
)

// relocation makes an instruction refer to a symbol.
type relocation struct {
	elf.Rel64
	// entry is the relocation in the file, ins the instruction.
	entry, ins []byte
	symbol     elf.Sym64
	// names are the strings of the symbol table.
	names []byte
}

// name returns the name of the symbol.
func (r *relocation) name() string { return shortText(r.names, r.symbol.Name) }

// shortText is text, cut beyond the length of any variable's name. That bounds
// memory if many names share one long text, as only in a malformed object.
func shortText(table []byte, at uint32) string {
	const longest = 256
	return text(table[:min(uint64(len(table)), uint64(at)+longest)], at)
}

// refer makes the relocation refer to another symbol of the table.
func (r *relocation) refer(f *file, index int) {
	r.Info = elf.R_INFO(uint32(index), elf.R_TYPE64(r.Info))
	_, _ = binary.Encode(r.entry, f.order, &r.Rel64)
}

// The constant of an instruction is in its second half.
func (f *file) constant(ins []byte) uint32       { return f.order.Uint32(ins[4:]) }
func (f *file) setConstant(ins []byte, n uint32) { f.order.PutUint32(ins[4:], n) }

// relocations yields the relocations of instructions, except malformed ones.
func (f *file) relocations() iter.Seq[*relocation] {
	return func(yield func(*relocation) bool) {
		for i := range f.sections {
			rels := &f.sections[i]
			if elf.SectionType(rels.Type) != elf.SHT_REL || int(rels.Info) >= len(f.sections) || int(rels.Link) >= len(f.sections) {
				continue
			}
			target, symbols := &f.sections[rels.Info], &f.sections[rels.Link]
			if elf.SectionFlag(target.Flags)&elf.SHF_EXECINSTR == 0 {
				continue
			}
			code, table := f.contents(target), f.contents(symbols)
			var names []byte
			if int(symbols.Link) < len(f.sections) {
				names = f.contents(&f.sections[symbols.Link])
			}
			entries := f.contents(rels)
			for size := binary.Size(elf.Rel64{}); len(entries) >= size; entries = entries[size:] {
				r := &relocation{entry: entries[:size], names: names}
				_, _ = binary.Decode(entries, f.order, &r.Rel64)
				at := uint64(elf.R_SYM64(r.Info)) * uint64(binary.Size(elf.Sym64{}))
				if at > uint64(len(table)) || r.Off > uint64(len(code)) || len(code[r.Off:]) < 8 {
					continue
				}
				if _, err := binary.Decode(table[at:], f.order, &r.symbol); err != nil {
					continue
				}
				if r.ins = code[r.Off:][:8]; !yield(r) {
					return
				}
			}
		}
	}
}
