package plan

import (
	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/object"
)

// owners maps the names of a spec's programs, maps and global variables to the
// paths of the objects that they come from.
type owners map[string]string

func ownersOf(spec *ebpf.CollectionSpec, path string) owners {
	all := owners{}
	all.add(spec, path)
	return all
}

func (o owners) add(spec *ebpf.CollectionSpec, path string) {
	for name := range spec.Programs {
		o[name] = path
	}
	for name := range spec.Maps {
		o[name] = path
	}
	for name := range spec.Variables {
		o[name] = path
	}
}

// addProgram adds a program of an object to a spec and returns its name there.
// It renames whatever has the name of something from another object.
func (o owners) addProgram(to *ebpf.CollectionSpec, from *object.Object, path, program string) (key string, changes []string) {
	spec, changes := from.Program(program)
	name := func(s string) string {
		if owner := o[s]; owner != "" && owner != path {
			return s + object.Of + path
		}
		return s
	}
	rename(spec, name)
	o.add(spec, path)
	addMissing(to.Maps, spec.Maps)
	addMissing(to.Programs, spec.Programs)
	addMissing(to.Variables, spec.Variables)
	return name(program), changes
}

// rename renames the contents of a spec.
func rename(spec *ebpf.CollectionSpec, name func(string) string) {
	for _, p := range spec.Programs {
		for i, ins := range p.Instructions {
			if ins.IsLoadFromMap() && ins.Reference() != "" {
				p.Instructions[i] = ins.WithReference(name(ins.Reference()))
			}
		}
	}
	for _, m := range spec.Maps {
		for i, kv := range m.Contents {
			if to, ok := kv.Value.(string); ok {
				m.Contents[i].Value = name(to)
			}
		}
	}
	for _, v := range spec.Variables {
		v.SectionName = name(v.SectionName)
	}
	spec.Programs, spec.Maps, spec.Variables = renamed(spec.Programs, name), renamed(spec.Maps, name), renamed(spec.Variables, name)
}

func renamed[V any](all map[string]V, name func(string) string) map[string]V {
	by := make(map[string]V, len(all))
	for old, v := range all {
		by[name(old)] = v
	}
	return by
}
