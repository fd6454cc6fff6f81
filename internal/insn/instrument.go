package insn

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// MapName is the key of the counters' map in a collection. It is not an
// identifier in C, so no other map has it.
const MapName = ".insn_counts"

// counterSize is the size of a counter in bytes.
const counterSize = 8

// Options control how to instrument. The zero value is valid.
type Options struct {
	Placement Placement
	// StackDepths has, by name of the program, how many bytes of stack each of
	// its functions uses, in the order of the functions: see func StackDepths,
	// which reads the verifier's log of the original program. It matters if a
	// register must be saved. Without it, or if the number of functions
	// differs, the depth visible in the bytecode is the bound, which misses
	// access by computed negative offsets.
	StackDepths map[string][]int
	// Skip names programs that stay as they are.
	Skip []string
	// Keys and Operands say that sites of those kinds write to a second map; see Site.
	Keys, Operands bool
	// Alive says that Table.Alive will be asked: every block has a counter, and finds
	// nothing in registers that others left.
	Alive bool
}

// Instrument rewrites every program of a spec in place, so that each basic
// block increments a counter, and adds the map that holds the counters. The
// table that it returns interprets the counters. It skips programs of
// unspecified type, because they cannot be loaded.
//
// If a program cannot be instrumented, the spec stays unchanged. The error
// wraps ErrIndirectJump, ErrStack or ErrJumpRange, and names the program.
func Instrument(spec *ebpf.CollectionSpec, o Options) (*Table, error) {
	for _, name := range []string{MapName, LogName} {
		if spec.Maps[name] != nil {
			return nil, fmt.Errorf("collection has a map %s: it is instrumented already", name)
		}
	}
	t := &Table{byName: map[string]*Program{}}
	rewritten := map[string]asm.Instructions{}
	for _, name := range slices.Sorted(maps.Keys(spec.Programs)) {
		if spec.Programs[name].Type == ebpf.UnspecifiedProgram || slices.Contains(o.Skip, name) {
			continue
		}
		insns, err := t.instrument(name, spec, o)
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
		Flags:      unix.BPF_F_MMAPABLE, // reading it runs nothing
	}
	if len(t.sites) > 0 {
		spec.Maps[LogName] = logMap(t.logSize)
	}
	return t, nil
}

// instrument adds a program to the table and returns its instructions with
// counters.
func (t *Table) instrument(name string, coll *ebpf.CollectionSpec, o Options) (asm.Instructions, error) {
	spec := coll.Programs[name]
	if len(spec.Instructions) == 0 {
		return nil, fmt.Errorf("it has no instructions")
	}
	labelled, targets, err := label(spec.Instructions)
	if err != nil {
		return nil, err
	}
	g := newGraph(name, labelled, targets)
	later := g.markLater()
	l := live(g)
	places := sites(l)
	weights := avoid(g, places)

	p := &Program{Name: name, Type: spec.Type, Instructions: labelled, Functions: g.functions, Blocks: g.blocks}
	counted, equations := place(g, weights)
	p.equations = equations
	if o.Placement == EveryBlock || o.Alive || later { // which runs while counters are read
		for b := range counted {
			counted[b] = true
		}
	}
	counters := t.counters
	for b := range g.blocks {
		if counted[b] {
			g.blocks[b].Counter = counters
			counters++
		}
	}

	logs, missed := logged(l, o, coll.Maps, t.logSize)
	e := &emitter{graph: g, original: spec.Instructions, sites: places, temporaries: share(l, places, counted, weights, logs), alone: o.Alive, logs: logs, depths: stackDepths(g, o.StackDepths[name]), assigned: assignments{}}
	insns, err := e.emit()
	if err != nil {
		return nil, err
	}
	t.counters = counters
	t.addSites(name, logs)
	t.missesKeys = t.missesKeys || missed
	t.Programs = append(t.Programs, p)
	t.byName[name] = p
	return insns, nil
}
