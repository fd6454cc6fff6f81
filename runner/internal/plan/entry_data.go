package plan

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/object"
)

// Global is a global variable of a program.
type Global struct {
	Name string
	// Type is its type in C, or "" if the object has no type for it. Size is in
	// bytes.
	Type string
	Size int
	// Value is its value in the object, in the form of a suite, or nil if it is
	// larger than anybody writes by hand.
	Value any
	// Constant says that the program cannot change it.
	Constant bool
}

// MapOutline describes a map as far as a suite has to know it. Sizes are in
// bytes; types are in C, or "" if the object has none.
type MapOutline struct {
	Name, Type         string
	KeyType, ValueType string
	KeySize, ValueSize int
	Entries            int
	// Fillable says that a suite can give entries of bytes.
	Fillable bool
	// Calls says that it holds programs to be tail called. Callable is a
	// program of the object that fits, or "".
	Calls    bool
	Callable string
	// Events says that it hands events to user space.
	Events bool
}

// globalsOf returns the variables that the programs of a collection use,
// constants first, because an agent sets those.
func globalsOf(spec *ebpf.CollectionSpec) []Global {
	var all []Global
	used := usedOffsets(spec)
	for name, v := range spec.Variables {
		// The formats of bpf_printk are variables, too.
		if strings.Contains(name, "____fmt") || v.Size() == 0 || !isUsed(v, used) {
			continue
		}
		g := Global{Name: name, Size: int(v.Size()), Value: literal(v.Value, int(v.Size())), Constant: v.Constant()}
		if v.Type != nil {
			g.Type = typeWords(v.Type.Type)
		}
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b Global) int {
		if a.Constant != b.Constant {
			return map[bool]int{true: -1, false: 1}[a.Constant]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return all
}

// offset is a place in a data section.
type offset struct {
	section string
	at      uint32
}

// usedOffsets returns the places in data sections whose addresses programs
// take.
func usedOffsets(spec *ebpf.CollectionSpec) map[offset]bool {
	used := map[offset]bool{}
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			if ins := &p.Instructions[i]; ins.IsLoadFromMap() && ins.Reference() != "" {
				// The second half of a load of a map's value is the offset in
				// it.
				used[offset{ins.Reference(), uint32(uint64(ins.Constant) >> 32)}] = true
			}
		}
	}
	return used
}

func isUsed(v *ebpf.VariableSpec, used map[offset]bool) bool {
	for o := range used {
		if o.section == v.SectionName && o.at >= v.Offset && o.at < v.Offset+v.Size() {
			return true
		}
	}
	return false
}

// literal returns a value in the form of a suite: a number if its size allows,
// else hex digits.
func literal(value []byte, size int) any {
	if len(value) != size {
		value = make([]byte, min(size, maxLiteral))
	}
	switch size {
	case 1:
		return uint64(value[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(value))
	case 4:
		return uint64(binary.NativeEndian.Uint32(value))
	case 8:
		return binary.NativeEndian.Uint64(value)
	}
	if size > maxLiteral {
		return nil
	}
	return fmt.Sprintf("%x", value)
}

// maxLiteral is the largest value that is written out, in bytes.
const maxLiteral = 16

// mapsOf returns the maps that the programs of a collection use, except those
// that the compiler made from global variables.
func mapsOf(spec *ebpf.CollectionSpec) []MapOutline {
	var all []MapOutline
	for name, m := range spec.Maps {
		if strings.HasPrefix(name, ".") {
			continue
		}
		o := MapOutline{
			Name: name, Type: object.MapTypeName(m.Type),
			KeySize: int(m.KeySize), ValueSize: int(m.ValueSize), Entries: int(m.MaxEntries),
			Fillable: slices.Contains(fillable, m.Type), Calls: m.Type == ebpf.ProgramArray, Events: m.Type == ebpf.RingBuf,
		}
		if m.Key != nil {
			o.KeyType = typeWords(m.Key)
		}
		if m.Value != nil {
			o.ValueType = typeWords(m.Value)
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b MapOutline) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// fillable are the types of maps that hold what a suite can write: bytes,
// neither programs nor sockets.
var fillable = []ebpf.MapType{
	ebpf.Hash, ebpf.Array, ebpf.PerCPUHash, ebpf.PerCPUArray, ebpf.LRUHash, ebpf.LRUCPUHash, ebpf.LPMTrie, ebpf.Queue, ebpf.Stack,
}

// typeWords returns a short form of a type in C.
func typeWords(t btf.Type) string { return spell(t, 16) }

// spell stops at a depth that no honest type has: a type can refer to itself.
func spell(t btf.Type, depth int) string {
	if depth == 0 {
		return "..."
	}
	switch t := t.(type) {
	case *btf.Const:
		return spell(t.Type, depth-1)
	case *btf.Volatile:
		return spell(t.Type, depth-1)
	case *btf.TypeTag:
		return spell(t.Type, depth-1)
	case *btf.Struct:
		return strings.TrimSpace("struct " + t.Name)
	case *btf.Union:
		return strings.TrimSpace("union " + t.Name)
	case *btf.Enum:
		return strings.TrimSpace("enum " + t.Name)
	case *btf.Pointer:
		return "pointer"
	case *btf.Array:
		return fmt.Sprintf("%s[%d]", spell(t.Type, depth-1), t.Nelems)
	}
	return t.TypeName()
}
