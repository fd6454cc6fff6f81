package insntest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
)

// DefaultSteps is how many instructions a run may execute by default.
const DefaultSteps = 1 << 24

// Machine runs the programs of a collection. Maps keep their contents from run
// to run, and counts add up.
type Machine struct {
	// Steps bounds the instructions of a run.
	Steps uint64

	memory   memory
	programs map[string]*program
	byNumber []*program
	maps     map[string]*table
	byHandle []*table
}

// New makes a machine with the programs and maps of a collection, which it does
// not change. Jumps may be symbolic or have offsets.
func New(spec *ebpf.CollectionSpec) (*Machine, error) {
	m := &Machine{Steps: DefaultSteps, programs: map[string]*program{}, maps: map[string]*table{}}
	for i, name := range slices.Sorted(maps.Keys(spec.Programs)) {
		p := newProgram(name, spec.Programs[name], i)
		m.programs[name] = p
		m.byNumber = append(m.byNumber, p)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Maps)) {
		m.maps[name] = m.addTable(spec.Maps[name])
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Maps)) {
		if err := m.fill(m.maps[name], spec); err != nil {
			return nil, fmt.Errorf("map %s: %w", name, err)
		}
	}
	return m, nil
}

// Input is what a run sees of the world. Functions that are nil are not
// supported.
type Input struct {
	Data   []byte
	CPU    uint32
	Time   func() uint64
	Random func() uint32
}

// Result is what BPF_PROG_TEST_RUN reports about a run.
type Result struct {
	Retval uint32
	Data   []byte
	// Meta is the metadata before the data of an XDP program. Newer kernels
	// prepend it to the data that they return.
	Meta []byte
}

// Run runs a program once.
func (m *Machine) Run(name string, in Input) (Result, error) {
	p := m.programs[name]
	if p == nil {
		return Result{}, fmt.Errorf("no program %s", name)
	}
	r := &run{Machine: m, in: in, left: m.Steps}
	defer r.end()
	if err := r.open(p.typ); err != nil {
		return Result{}, err
	}
	v, err := r.call(p, 0, [5]uint64{r.context}, 0)
	if err != nil {
		return Result{}, err
	}
	return r.packet.result(uint32(v)), nil
}

// Executed returns how often each instruction of a program was executed in all
// runs. A 64-bit load is one instruction.
func (m *Machine) Executed(name string) []uint64 {
	p := m.programs[name]
	if p == nil {
		return nil
	}
	return slices.Clone(p.executed)
}

// SetTail puts a program into an array of programs.
func (m *Machine) SetTail(name string, index uint32, program string) error {
	t, p := m.maps[name], m.programs[program]
	switch {
	case t == nil || t.typ != ebpf.ProgramArray:
		return fmt.Errorf("no array of programs %s", name)
	case p == nil:
		return fmt.Errorf("no program %s", program)
	}
	t.programs[index] = p
	return nil
}

// Lookup returns a copy of a map's value for a key, or nil. In a per-CPU map,
// all CPUs see the same value.
func (m *Machine) Lookup(name string, key []byte) ([]byte, error) {
	t := m.maps[name]
	if t == nil {
		return nil, fmt.Errorf("no map %s", name)
	}
	addr, err := t.lookup(&m.memory, key)
	if err != nil || addr == 0 {
		return nil, err
	}
	b, err := m.memory.bytes(addr, t.valueSize)
	return slices.Clone(b), err
}
