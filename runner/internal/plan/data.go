package plan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Data says how the maps and variables of both sides differ if their
// instructions do not: only they can make one side cost more. It returns nothing
// if the instructions differ.
func (p PairJob) Data() (differ []string) {
	if p.Base == nil || p.Head == nil || !maps.EqualFunc(p.Base.Spec.Programs, p.Head.Spec.Programs, sameProgram) {
		return nil
	}
	base, head := p.Base.Spec, p.Head.Spec
	for _, name := range slices.Sorted(maps.Keys(head.Maps)) {
		was, is := base.Maps[name], head.Maps[name]
		if was != nil && !equal(was, is) {
			differ = append(differ, otherMap(name, was, is)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(head.Variables)) {
		was, is := base.Variables[name], head.Variables[name]
		if was != nil && head.Maps[is.SectionName] != nil && !bytes.Equal(was.Value, is.Value) {
			differ = append(differ, otherVariable(was, is))
		}
	}
	if more := len(differ) - bench.MaxData; more > 0 {
		differ = append(differ[:bench.MaxData-1], fmt.Sprintf("and %d more", more+1))
	}
	return differ
}

func otherMap(name string, was, is *ebpf.MapSpec) (differ []string) {
	say := func(what, was, is string) {
		if was != is {
			differ = append(differ, fmt.Sprintf("map %s: %s %s → %s", name, what, was, is))
		}
	}
	count := func(n uint32) string { return unit.Exact(float64(n)) }
	flags := func(n uint32) string { return fmt.Sprintf("%#x", n) }
	say("type", object.MapTypeName(was.Type), object.MapTypeName(is.Type))
	say("bytes of a key", count(was.KeySize), count(is.KeySize))
	say("bytes of a value", count(was.ValueSize), count(is.ValueSize))
	say("entries", count(was.MaxEntries), count(is.MaxEntries))
	say("flags", flags(was.Flags), flags(is.Flags))
	if was.InnerMap != nil && is.InnerMap != nil {
		differ = append(differ, otherMap(name+"'s inner map", was.InnerMap, is.InnerMap)...)
	}
	return differ
}

// otherVariable describes a variable whose values differ: by the values if they
// are numbers.
func otherVariable(was, is *ebpf.VariableSpec) string {
	if len(was.Value) != len(is.Value) {
		return fmt.Sprintf("variable %s: %s → %s bytes", is.Name, unit.Exact(float64(len(was.Value))), unit.Exact(float64(len(is.Value))))
	}
	if n, m := number(was), number(is); n != "" && m != "" {
		return fmt.Sprintf("variable %s: %s → %s", is.Name, n, m)
	}
	return fmt.Sprintf("variable %s: another value", is.Name)
}

// number returns the value of a variable, or "" if it is not a whole number.
func number(v *ebpf.VariableSpec) string {
	if v.Type == nil {
		return ""
	}
	t, ok := btf.UnderlyingType(v.Type.Type).(*btf.Int)
	if !ok || len(v.Value) != int(t.Size) || len(v.Value) > 8 {
		return ""
	}
	padded := make([]byte, 8)
	if t.Encoding == btf.Signed && int8(v.Value[len(v.Value)-1]) < 0 {
		padded = bytes.Repeat([]byte{0xff}, 8)
	}
	copy(padded, v.Value) // little endian, as all machines that are measured
	n := binary.LittleEndian.Uint64(padded)
	if t.Encoding == btf.Signed {
		return unit.Exact(float64(int64(n)))
	}
	return unit.Exact(float64(n))
}
