package insn

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// MapName is the key of the counters' map in a collection. C has no such
// identifier, so no other map has it.
const MapName = ".insn_counts"

// counterSize is the size of a counter in bytes.
const counterSize = 8

// Options say how to instrument. The zero value is valid.
type Options struct {
	Placement Placement
	// StackDepths are, by name of the program, how many bytes of stack each of
	// its functions uses, in the order of the functions: what StackDepths reads
	// from the verifier's log of the program as it was. It matters where a
	// register must be saved. Without, or if there are not as many as functions,
	// what is seen in the bytecode is the bound, and access to the stack by
	// computed negative offsets is not seen.
	StackDepths map[string][]int
}

// Instrument rewrites every program of a spec in place, such that each basic
// block bumps a counter, and adds the map that holds the counters. The table it
// returns tells what the counters say. Programs of unspecified type stay as they
// are, because they cannot be loaded.
//
// If a program cannot be instrumented the spec stays as it was; the error wraps
// ErrIndirectJump, ErrStack or ErrJumpRange, and names the program.
func Instrument(spec *ebpf.CollectionSpec, o Options) (*Table, error) {
	if spec.Maps[MapName] != nil {
		return nil, fmt.Errorf("collection has a map %s: it is instrumented already", MapName)
	}
	t := &Table{byName: map[string]*Program{}}
	rewritten := map[string]asm.Instructions{}
	for _, name := range slices.Sorted(maps.Keys(spec.Programs)) {
		if spec.Programs[name].Type == ebpf.UnspecifiedProgram {
			continue
		}
		insns, err := t.instrument(name, spec.Programs[name], o)
		if err != nil {
			return nil, fmt.Errorf("instrument program %s: %w", name, err)
		}
		rewritten[name] = insns
	}

	for name, insns := range rewritten {
		spec.Programs[name].Instructions = insns
	}
	if spec.Maps == nil {
		spec.Maps = map[string]*ebpf.MapSpec{}
	}
	spec.Maps[MapName] = &ebpf.MapSpec{
		Name:       "insn_counts",
		Type:       ebpf.Array,
		KeySize:    4,
		ValueSize:  counterSize * uint32(max(1, t.counters)),
		MaxEntries: 1,
	}
	return t, nil
}

// instrument adds a program to the table and returns its instructions with
// counters.
func (t *Table) instrument(name string, spec *ebpf.ProgramSpec, o Options) (asm.Instructions, error) {
	if len(spec.Instructions) == 0 {
		return nil, fmt.Errorf("it has no instructions")
	}
	labelled, targets, err := label(spec.Instructions)
	if err != nil {
		return nil, err
	}
	g := newGraph(name, labelled, targets)
	l := live(g)
	places := sites(l)
	weights := avoid(g, places)

	p := &Program{Name: name, Type: spec.Type, Instructions: labelled, Functions: g.functions, Blocks: g.blocks}
	counted := make([]bool, len(g.blocks))
	switch o.Placement {
	case EveryBlock:
		for b := range counted {
			counted[b] = true
		}
	default:
		counted, p.equations = place(g, weights)
	}
	counters := t.counters
	for b := range g.blocks {
		if counted[b] {
			g.blocks[b].Counter = counters
			counters++
		}
	}

	e := &emitter{graph: g, original: spec.Instructions, sites: places, temporaries: share(l, places, counted, weights), depths: stackDepths(g, o.StackDepths[name]), assigned: assignments{}}
	insns, err := e.emit()
	if err != nil {
		return nil, err
	}
	t.counters = counters
	t.Programs = append(t.Programs, p)
	t.byName[name] = p
	return insns, nil
}
