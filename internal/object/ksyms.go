package object

import (
	"debug/elf"
	"encoding/binary"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// ksyms is the section of the variables and functions of the kernel that an
// object refers to. It consists of types only.
const ksyms = ".ksyms"

// TypedKsym is a variable of the kernel that an object declares with its type
// (extern const struct rq runqueues __ksym). The kernel knows where it is by
// the ID of its own type. Weak ones may be missing.
type TypedKsym struct {
	Name string
	Weak bool
}

type typedKsymKey struct{}

// LoadsTypedKsym returns the typed variable of the kernel whose address an
// instruction loads.
func LoadsTypedKsym(ins *asm.Instruction) (TypedKsym, bool) {
	v, ok := ins.Metadata.Get(typedKsymKey{}).(TypedKsym)
	return v, ok
}

// findTypedKsyms finds the typed variables of the kernel, and makes them
// untyped: the parser refuses an object that has any.
func (f *file) findTypedKsyms() map[string]TypedKsym {
	s := f.find(".BTF")
	if s == nil {
		return nil
	}
	types, ok := f.readRawTypes(f.contents(s))
	if !ok {
		return nil
	}
	found := map[string]TypedKsym{}
	for _, section := range types.all {
		if section.kind != kindDatasec || types.name(section) != ksyms {
			continue
		}
		for _, id := range types.members(section) {
			v, ok := types.byID(id)
			if !ok || v.kind != kindVar {
				continue
			}
			if !types.isVoid(v.refersTo()) {
				name := types.name(v)
				found[name] = TypedKsym{Name: name}
			}
			v.refer(0)
		}
	}
	if len(found) == 0 {
		return nil
	}
	for _, s := range f.symbolTable(func(s *symbol) bool {
		return s.binding() == elf.STB_WEAK && s.Shndx == uint16(elf.SHN_UNDEF)
	}) {
		if v, ok := found[s.name]; ok {
			v.Weak = true
			found[s.name] = v
		}
	}
	return found
}

// fixTypedKsyms makes instructions that load the address of a typed variable
// say so, in place of what the parser makes them load: an address of the
// kernel's symbol table, which the verifier takes for a number.
func (o *Object) fixTypedKsyms(typed map[string]TypedKsym) {
	for _, p := range o.spec.Programs {
		for i := range p.Instructions {
			ins := &p.Instructions[i]
			v, ok := typed[ins.Reference()]
			if !ok || !ins.IsConstantLoad(asm.DWord) {
				continue
			}
			load := asm.LoadImm(ins.Dst, 0, asm.DWord).WithReference(v.Name).WithSymbol(ins.Symbol()).WithSource(ins.Source())
			if fn := btf.FuncMetadata(ins); fn != nil {
				load = btf.WithFuncMetadata(load, fn)
			}
			load.Metadata.Set(typedKsymKey{}, v)
			*ins = load
		}
	}
}

// Kinds of types in a section .BTF.
//
// Source: Documentation/bpf/btf.rst of the kernel.
const (
	kindInt = 1 + iota
	_       // pointer
	kindArray
	kindStruct
	kindUnion
	kindEnum
	_ // forward declaration
	kindTypedef
	kindVolatile
	kindConst
	kindRestrict
	_ // function
	kindFuncProto
	kindVar
	kindDatasec
	_ // float
	kindDeclTag
	_ // type tag
	kindEnum64
	kindsEnd
)

const rawTypeSize = 12 // bytes, before those of a kind

// rawType is a type as a section .BTF has it: data starts with its name,
// kind and size or type, each of four bytes.
type rawType struct {
	data  []byte
	order binary.ByteOrder
	kind  uint32
}

func (t rawType) refersTo() uint32 { return t.order.Uint32(t.data[8:]) }
func (t rawType) refer(id uint32)  { t.order.PutUint32(t.data[8:], id) }

// rawTypes are the types of a section .BTF. The first has the ID 1.
type rawTypes struct {
	all   []rawType
	names []byte
}

// readRawTypes splits a section .BTF into its types. It reports false if that
// is malformed or has kinds of types that are not known.
func (f *file) readRawTypes(section []byte) (rawTypes, bool) {
	const shortestHeader = 24
	if len(section) < shortestHeader {
		return rawTypes{}, false
	}
	// field is a field of the header.
	field := func(i int) uint64 { return uint64(f.order.Uint32(section[4+4*i:])) }
	part := func(offset, length uint64) []byte {
		start := field(0) + offset
		if start > uint64(len(section)) {
			return nil
		}
		return section[start:min(start+length, uint64(len(section)))]
	}
	data, types := part(field(1), field(2)), rawTypes{names: part(field(3), field(4))}
	for len(data) >= rawTypeSize {
		info := f.order.Uint32(data[4:])
		t := rawType{order: f.order, kind: info >> 24 & 0x1f}
		size := rawTypeSize + extraSize(t.kind, int(info&0xffff))
		if t.kind == 0 || t.kind >= kindsEnd || size > len(data) {
			return rawTypes{}, false
		}
		t.data, data = data[:size], data[size:]
		types.all = append(types.all, t)
	}
	return types, len(data) == 0
}

// extraSize returns the size in bytes of what follows a type of a kind with n
// members.
func extraSize(kind uint32, n int) int {
	switch kind {
	case kindInt, kindVar, kindDeclTag:
		return 4
	case kindArray:
		return 12
	case kindStruct, kindUnion, kindDatasec, kindEnum64:
		return 12 * n
	case kindEnum, kindFuncProto:
		return 8 * n
	}
	return 0
}

// name returns the name of a type, cut like a relocation's.
func (t *rawTypes) name(of rawType) string { return shortText(t.names, of.order.Uint32(of.data)) }

func (t *rawTypes) byID(id uint32) (rawType, bool) {
	if id == 0 || uint64(id) > uint64(len(t.all)) {
		return rawType{}, false
	}
	return t.all[id-1], true
}

// members returns the IDs of the variables and functions of a section.
func (t *rawTypes) members(section rawType) (ids []uint32) {
	for rest := section.data[rawTypeSize:]; len(rest) > 0; rest = rest[12:] {
		ids = append(ids, section.order.Uint32(rest))
	}
	return ids
}

// isVoid reports whether a type is void, const void or another name of it.
func (t *rawTypes) isVoid(id uint32) bool {
	const deepest = 32 // as the kernel follows them
	for range deepest {
		if id == 0 {
			return true
		}
		found, ok := t.byID(id)
		if !ok {
			return false
		}
		switch found.kind {
		case kindTypedef, kindVolatile, kindConst, kindRestrict:
			id = found.refersTo()
		default:
			return false
		}
	}
	return false
}
