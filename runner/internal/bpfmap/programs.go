package bpfmap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// fillWithPrograms puts the programs that a suite names into the spec of an
// array of programs, as if the object had filled it: they are loaded with it,
// and counted and reported like any target of a tail call.
func fillWithPrograms(o *object.Object, spec *ebpf.CollectionSpec, m *ebpf.MapSpec, prep bench.MapPrep) error {
	if prep.File != "" || prep.Generate != nil {
		return errors.New("it holds programs, which no file has and nothing generates: give entries, such as {key: 0, program: NAME}")
	}
	for i, e := range prep.Entries {
		key, err := programKey(o, spec, m, e)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		m.Contents = slices.DeleteFunc(m.Contents, func(kv ebpf.MapKV) bool { return kv.Key == any(key) })
		m.Contents = append(m.Contents, ebpf.MapKV{Key: key, Value: e.Program})
	}
	return nil
}

// programKey returns the index of an entry, and checks that its program fits
// there.
func programKey(o *object.Object, spec *ebpf.CollectionSpec, m *ebpf.MapSpec, e bench.MapEntry) (uint32, error) {
	if e.Program == "" {
		return 0, errors.New("the map holds programs: give a program of the object in place of the value")
	}
	encoded, err := encodeValue(e.Key, 4)
	if err != nil {
		return 0, fmt.Errorf("key: %w", err)
	}
	key := binary.NativeEndian.Uint32(encoded)
	if key >= m.MaxEntries {
		return 0, fmt.Errorf("no index %d: the last is %d", key, m.MaxEntries-1)
	}
	p := o.Entry(e.Program)
	if p == nil {
		return 0, &NoTargetError{fmt.Errorf("the object has no program %q%s", e.Program, strictyaml.DidYouMean(e.Program, o.Programs()))}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Programs)) {
		// A replacement has the type of the program whose function it replaces.
		if typ := spec.Programs[name].Type; typ != p.Type && typ != ebpf.Extension {
			return 0, fmt.Errorf("program %s is of type %s and %s of type %s: a tail call stays within a type", e.Program, object.TypeName(p.Type), name, object.TypeName(typ))
		}
	}
	return key, nil
}

// NoTargetError says that an object lacks a program that a map should hold.
type NoTargetError struct{ Err error }

func (e *NoTargetError) Error() string { return e.Err.Error() }
func (e *NoTargetError) Unwrap() error { return e.Err }
