package runner

import (
	"fmt"
	"math/bits"
	"os"
	"slices"

	"github.com/cilium/ebpf"
)

// raisedEntries is how many entries a map gets whose size the object leaves to
// whoever loads it.
const raisedEntries = 64

// innerEntry is the map that stands in for an inner map that the object does
// not describe.
var innerEntry = ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1}

// Loadable copies a program with what it refers to, and decides what objects
// leave to their agent, without which they do not load: the sizes of maps, what
// is in maps of maps. It says what it has changed.
func Loadable(spec *ebpf.CollectionSpec, program string) (*ebpf.CollectionSpec, []string) {
	spec, changes := extract(spec, program)
	for name, m := range spec.Maps {
		change := func(format string, args ...any) {
			changes = append(changes, "map "+name+" "+fmt.Sprintf(format, args...))
		}
		if entries := entriesOf(m); entries != m.MaxEntries {
			change("has %d entries instead of %d", entries, m.MaxEntries)
			m.MaxEntries = entries
		}
		if (m.Type == ebpf.HashOfMaps || m.Type == ebpf.ArrayOfMaps) && m.InnerMap == nil {
			m.InnerMap = innerEntry.Copy()
			change("holds arrays of one number: the object does not say what it holds")
		}
		if m.InnerMap != nil {
			m.InnerMap.Pinning = ebpf.PinNone
			m.InnerMap.MaxEntries = entriesOf(m.InnerMap)
		}
		if m.Extra != nil && m.Extra.Len() > 0 {
			m.Extra = nil
			change("loses what its description has beyond the known fields")
		}
	}
	slices.Sort(changes)
	return spec, changes
}

// entriesOf is how many entries of a map the kernel takes: a ring buffer's are
// bytes, a power of two of whole pages.
func entriesOf(m *ebpf.MapSpec) uint32 {
	switch m.Type {
	case ebpf.RingBuf, ebpf.UserRingbuf:
		page := uint32(os.Getpagesize())
		if m.MaxEntries <= page {
			return page
		}
		return uint32(min(1<<bits.Len32(m.MaxEntries-1), 1<<31))
	case ebpf.PerfEventArray, ebpf.CPUMap: // one for each CPU
	case ebpf.SkStorage, ebpf.TaskStorage, ebpf.InodeStorage, ebpf.CGroupStorage, ebpf.PerCPUCGroupStorage, ebpf.CgroupStorage:
		// They have none.
	default:
		if m.MaxEntries == 0 {
			return raisedEntries
		}
	}
	return m.MaxEntries
}

// ReadObject parses an ELF object, whatever it holds, and lists its programs.
func ReadObject(data []byte) (spec *ebpf.CollectionSpec, programs []string, err error) {
	if spec, err = parseObject(data); err != nil {
		return nil, nil, err
	}
	return spec, programNames(spec), nil
}
