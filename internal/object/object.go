// Package object reads ELF objects of eBPF programs, from any compiler, and
// turns each program into one that the kernel can load on its own. It decides
// what an object leaves to its agent, and lists its changes. It loads nothing
// and needs no privileges.
package object

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// Object is a parsed ELF object.
type Object struct {
	spec *ebpf.CollectionSpec
	// changes lists the differences from the file, one sentence each.
	changes []string
	// hidden are its functions that are effectively static.
	hidden map[string]bool
	// callers is what TailCallers returns.
	callers struct {
		sync.Once
		all map[string][]string
	}
}

func (o *Object) changed(format string, args ...any) {
	o.changes = append(o.changes, fmt.Sprintf(format, args...))
}

// Programs returns the names of the entry programs, sorted.
func (o *Object) Programs() []string {
	var names []string
	for name, p := range o.spec.Programs {
		if p.Type != ebpf.UnspecifiedProgram {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// UntypedPrograms returns the programs whose sections imply no type, sorted.
func (o *Object) UntypedPrograms() []string {
	var names []string
	for name := range o.spec.Programs {
		if o.Untyped(name) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Entry returns an entry program as the object has it, or nil if there is none
// of that name. Callers must not change it.
func (o *Object) Entry(name string) *ebpf.ProgramSpec {
	if p := o.spec.Programs[name]; p != nil && p.Type != ebpf.UnspecifiedProgram {
		return p
	}
	return nil
}

// Untyped returns the section of a program if it implies no type, or "" if
// there is no such program.
func (o *Object) Untyped(name string) string {
	if p := o.spec.Programs[name]; p != nil && p.Type == ebpf.UnspecifiedProgram {
		return p.SectionName
	}
	return ""
}

// Program copies an entry program and what it refers to, in a form that loads
// on its own. It includes others, to which the object itself has no reference.
// It also returns the differences from the object, one sentence each.
func (o *Object) Program(name string, others ...string) (*ebpf.CollectionSpec, []string) {
	spec := only(o.spec, append(others, name)...)
	changes := slices.Concat(fixMaps(spec), fixFunctions(spec, o.hidden))
	slices.Sort(changes)
	return spec, slices.Compact(slices.Concat(o.changes, changes))
}

// Lines returns the source lines of all instructions, in no order, as far as the object has
// them in its BTF.
func (o *Object) Lines() iter.Seq[*btf.Line] {
	return func(yield func(*btf.Line) bool) {
		for _, p := range o.spec.Programs {
			for i := range p.Instructions {
				if line, ok := p.Instructions[i].Source().(*btf.Line); ok && !yield(line) {
					return
				}
			}
		}
	}
}
