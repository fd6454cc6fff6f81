// Package object reads ELF objects of eBPF programs, whichever compiler made
// them, and makes of each program what the kernel can load on its own. It
// decides what an object leaves to its agent, and tells what it has changed.
// It loads nothing, and takes no privileges.
package object

import (
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
)

// Object is an ELF object that was read.
type Object struct {
	spec *ebpf.CollectionSpec
	// changes are what is other than in the file, one sentence each.
	changes []string
	// hidden are its functions that are static in all but name.
	hidden map[string]bool
}

func (o *Object) changed(format string, args ...any) {
	o.changes = append(o.changes, fmt.Sprintf(format, args...))
}

// Programs lists the entry programs, sorted.
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

// UntypedPrograms lists the programs whose sections say no type, sorted.
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

// Entry is an entry program as the object has it, not to be changed; nil where
// there is none of that name.
func (o *Object) Entry(name string) *ebpf.ProgramSpec {
	if p := o.spec.Programs[name]; p != nil && p.Type != ebpf.UnspecifiedProgram {
		return p
	}
	return nil
}

// Untyped is the section of a program whose type it does not say, empty where
// there is no such program.
func (o *Object) Untyped(name string) string {
	if p := o.spec.Programs[name]; p != nil && p.Type == ebpf.UnspecifiedProgram {
		return p.SectionName
	}
	return ""
}

// Program copies an entry program with what it refers to, in a form that loads
// on its own, and with it others that the object does not say it refers to. It
// says what is other than in the object, one sentence each.
func (o *Object) Program(name string, others ...string) (*ebpf.CollectionSpec, []string) {
	spec := only(o.spec, append(others, name)...)
	changes := slices.Concat(fixMaps(spec), fixFunctions(spec, o.hidden))
	slices.Sort(changes)
	return spec, slices.Compact(slices.Concat(o.changes, changes))
}
