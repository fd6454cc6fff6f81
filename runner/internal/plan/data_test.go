package plan

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// What differs beside the instructions is said, and nothing if they do, too.
func TestData(t *testing.T) {
	integer := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	job := func(change func(*ebpf.CollectionSpec)) *Job {
		variable := func(name string, of btf.Type, value ...byte) *ebpf.VariableSpec {
			return &ebpf.VariableSpec{Name: name, SectionName: ".rodata", Value: value, Type: &btf.Var{Name: name, Type: of}}
		}
		spec := &ebpf.CollectionSpec{
			Programs: map[string]*ebpf.ProgramSpec{"p": {Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}}},
			Maps: map[string]*ebpf.MapSpec{
				"flows":   {Type: ebpf.Hash, KeySize: 4, ValueSize: 8, MaxEntries: 64},
				"outer":   {Type: ebpf.HashOfMaps, KeySize: 4, ValueSize: 4, MaxEntries: 1, InnerMap: &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}},
				".rodata": {Type: ebpf.Array, KeySize: 4, ValueSize: 16, MaxEntries: 1, Contents: []ebpf.MapKV{{Key: uint32(0), Value: "one"}}},
			},
			Variables: map[string]*ebpf.VariableSpec{
				"limit": variable("limit", &btf.Const{Type: integer}, 0xff, 0xff, 0xff, 0xff),
				"table": variable("table", &btf.Array{Type: integer, Nelems: 1}, 1, 2, 3, 4),
			},
		}
		change(spec)
		return &Job{Benchmark: &bench.Benchmark{Name: "a"}, Spec: spec}
	}
	none := func(*ebpf.CollectionSpec) {}
	for name, c := range map[string]struct {
		change func(*ebpf.CollectionSpec)
		want   []string
	}{
		"nothing": {none, nil},
		"a map": {func(s *ebpf.CollectionSpec) {
			s.Maps["flows"].Type, s.Maps["flows"].MaxEntries, s.Maps["flows"].Flags = ebpf.LRUHash, 4096, 2
		}, []string{"map flows: type hash → lru_hash", "map flows: entries 64 → 4,096", "map flows: flags 0x0 → 0x2"}},
		"an inner map": {func(s *ebpf.CollectionSpec) { s.Maps["outer"].InnerMap.ValueSize = 8192 },
			[]string{"map outer's inner map: bytes of a value 8 → 8,192"}},
		"variables": {func(s *ebpf.CollectionSpec) {
			s.Maps[".rodata"].Contents[0].Value = "another"
			s.Variables["limit"].Value = []byte{0x10, 0x27, 0, 0}
			s.Variables["table"].Value = []byte{4, 3, 2, 1}
		}, []string{"variable limit: -1 → 10,000", "variable table: another value"}},
		"instructions, too": {func(s *ebpf.CollectionSpec) {
			s.Programs["p"].Instructions[0].Constant, s.Maps["flows"].MaxEntries = 1, 4096
		}, nil},
	} {
		if got := (PairJob{Base: job(none), Head: job(c.change)}).Data(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := (PairJob{Head: job(none)}).Data(); got != nil {
		t.Errorf("of one side: %q", got)
	}
}
