package plan

import (
	"cmp"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// Entry is an entry program of an object, and what a generated suite says about
// it.
type Entry struct {
	// Object is the object's path, Program the name of the program's function
	// in it, Section the name of its section.
	Object, Program, Section string
	// Type is the program's type in the kernel's spelling.
	Type string
	// Benchmark is a name that differs from those of all other entries, even if
	// only letters and digits count.
	Benchmark string
	// Ambiguous says that another object has a program of the same name.
	Ambiguous bool
	// Driver drives it; if nothing does, Why is the reason.
	Driver, Why string
	// Packets says that it is driven with packets.
	Packets bool
	// Replaces says that it only loads in place of a function of another
	// program, which is loaded before it. Target is that program if one of the
	// objects has it.
	Replaces bool
	Target   *Entry
	// Untyped says that its section gives no type, so that it cannot be loaded.
	Untyped bool
	// Callers are the entry programs whose tail calls reach it.
	Callers []string
	// Globals and Maps are the global variables and maps that it uses.
	Globals []Global
	Maps    []MapOutline
}

// Entries returns the entry programs of objects, in the order of the objects,
// and by name within each.
func Entries(objects []suite.Object) ([]Entry, error) {
	parsed, err := parseObjects(objects)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, from := range objects {
		o := parsed[from.Path]
		callers := o.TailCallers()
		for _, name := range o.Programs() {
			e := newEntry(o, name)
			e.Object, e.Callers = from.Path, callers[name]
			all = append(all, e)
		}
		for _, name := range o.UntypedPrograms() {
			all = append(all, Entry{Object: from.Path, Program: name, Section: o.Untyped(name), Untyped: true})
		}
	}
	nameEntries(all)
	for i := range all {
		if all[i].Replaces {
			all[i].aim(all, parsed)
		}
	}
	return all, nil
}

func newEntry(o *object.Object, name string) Entry {
	p := o.Entry(name)
	e := Entry{
		Program: name, Section: p.SectionName, Type: object.TypeName(p.Type),
		Packets: progrun.TakesPackets(p.Type), Replaces: p.Type == ebpf.Extension,
	}
	own, _ := o.Program(name)
	e.Driver, e.Why = (&Job{Benchmark: &bench.Benchmark{Program: name}, Spec: own, CalledBy: tailCalls(o, name)}).defaultDriver()
	e.Globals, e.Maps = globalsOf(own), mapsOf(own)
	for i := range e.Maps {
		if e.Maps[i].Calls {
			e.Maps[i].Callable = callable(o, name)
		}
	}
	return e
}

// callable returns a program of the object that caller can tail call, so one of
// its type. It prefers programs that only tail calls reach.
func callable(o *object.Object, caller string) string {
	found := ""
	for _, name := range o.Programs() {
		if name == caller || o.Entry(name).Type != o.Entry(caller).Type {
			continue
		}
		if tailCalls(o, name) != "" {
			return name
		}
		found = cmp.Or(found, name)
	}
	return found
}
