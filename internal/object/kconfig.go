package object

import (
	"debug/elf"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// Kconfig is the map in which programs find the kernel's settings that they
// declare as __kconfig variables. It is empty; the loader fills it. The type of
// its value, which no kernel may see, lists the variables.
const Kconfig = ".kconfig"

// Of separates the name of a thing from the path of its object, if things of
// several objects are loaded together.
const Of = " of "

// Weak is the tag of a variable that may be missing, and is zero then.
const Weak = "weak"

// asked are the __kconfig variables that instructions load, by index and by
// name, and which of them are weak.
type asked struct {
	names []string
	index map[string]int
	weak  map[string]bool
}

// findKconfig finds the variables that programs load, and writes their indices
// into the instructions: the parser does not expose which variable an
// instruction loads, and refuses weak ones.
func (f *file) findKconfig() asked {
	a := asked{index: map[string]int{}, weak: map[string]bool{}}
	for r := range f.relocations() {
		if asm.OpCode(r.ins[0]) != asm.LoadImmOp(asm.DWord) || r.symbol.Shndx != uint16(elf.SHN_UNDEF) {
			continue
		}
		name := r.name()
		if !strings.HasPrefix(name, "CONFIG_") && !strings.HasPrefix(name, "LINUX_") {
			continue
		}
		i, ok := a.index[name]
		if !ok {
			i = len(a.names)
			a.names, a.index[name] = append(a.names, name), i
		}
		f.setConstant(r.ins, uint32(i))
	}
	if len(a.names) == 0 {
		return a
	}
	for _, s := range f.symbolTable(func(s *symbol) bool { return s.binding() == elf.STB_WEAK }) {
		if _, ok := a.index[s.name]; ok {
			a.weak[s.name] = true
			s.Info = elf.ST_INFO(elf.STB_GLOBAL, s.kind())
			f.write(&s)
		}
	}
	return a
}

// fixKconfig makes programs load the variables from an ordinary map.
func (o *Object) fixKconfig(a asked) {
	var types *btf.Datasec
	if len(a.names) == 0 || o.spec.Types == nil || o.spec.Types.TypeByName(Kconfig, &types) != nil {
		return
	}
	offsets := map[string]uint32{}
	variables := make([]btf.VarSecinfo, len(types.Vars))
	for i, v := range types.Vars {
		variables[i] = v
		if v, ok := v.Type.(*btf.Var); ok {
			offsets[v.Name] = variables[i].Offset
			if a.weak[v.Name] {
				weak := *v
				weak.Tags = []string{Weak}
				variables[i].Type = &weak
			}
		}
	}
	for _, p := range o.spec.Programs {
		for i := range p.Instructions {
			ins := &p.Instructions[i]
			if !ins.IsLoadFromMap() || ins.Reference() != "" || ins.Constant < 0 || ins.Constant >= int64(len(a.names)) {
				continue
			}
			offset, ok := offsets[a.names[ins.Constant]]
			if !ok {
				continue
			}
			load := asm.LoadMapValue(ins.Dst, 0, offset).WithReference(Kconfig).WithSymbol(ins.Symbol()).WithSource(ins.Source())
			if fn := btf.FuncMetadata(ins); fn != nil {
				load = btf.WithFuncMetadata(load, fn)
			}
			*ins = load
		}
	}
	o.spec.Maps[Kconfig] = &ebpf.MapSpec{
		Name: Kconfig, Type: ebpf.Array, KeySize: 4, ValueSize: types.Size, MaxEntries: 1,
		Flags: unix.BPF_F_RDONLY_PROG,
		Value: &btf.Datasec{Name: Kconfig, Size: types.Size, Vars: variables},
	}
}
