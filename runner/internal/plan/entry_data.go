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
	// Type is its type as C spells it, empty where the object does not say. Size is
	// in bytes.
	Type string
	Size int
	// Value is what the object has for it, as a suite takes it; nil of one that is
	// larger than anybody writes by hand.
	Value any
	// Constant says that the program cannot change it.
	Constant bool
}

// MapOutline is what a suite has to know of a map. Sizes are in bytes, types as C
// spells them, empty where the object does not say.
type MapOutline struct {
	Name, Type         string
	KeyType, ValueType string
	KeySize, ValueSize int
	Entries            int
	// Fillable says that a suite can give entries of bytes.
	Fillable bool
	// Calls says that it holds programs to be tail called, Callable is one of the
	// object's that it takes, empty where there is none.
	Calls    bool
	Callable string
	// Events says that it hands events to user space.
	Events bool
}

// globalsOf lists the variables that the programs of a collection use, the
// constants first: those are what an agent sets.
func globalsOf(spec *ebpf.CollectionSpec) []Global {
	var all []Global
	used := usedOffsets(spec)
	for name, v := range spec.Variables {
		// What bpf_printk prints is a variable too.
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

// usedOffsets are the places in data sections that programs take the address of.
func usedOffsets(spec *ebpf.CollectionSpec) map[offset]bool {
	used := map[offset]bool{}
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			if ins := &p.Instructions[i]; ins.IsLoadFromMap() && ins.Reference() != "" {
				// The second half of a load of a map's value is where in it.
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

// literal is a value as a suite takes it: a number where one has that size, else
// hex digits.
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

// mapsOf lists the maps that the programs of a collection use, but for those that
// the compiler made of global variables.
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

// fillable are the maps that hold what a suite can write: bytes, and neither
// programs nor sockets.
var fillable = []ebpf.MapType{
	ebpf.Hash, ebpf.Array, ebpf.PerCPUHash, ebpf.PerCPUArray, ebpf.LRUHash, ebpf.LRUCPUHash, ebpf.LPMTrie, ebpf.Queue, ebpf.Stack,
}

// typeWords spells a type as C does, in short.
func typeWords(t btf.Type) string { return spell(t, 16) }

// spell stops at a depth that no honest type has: one can refer to itself.
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
