package object

import (
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"

	"github.com/cilium/ebpf"
)

// raisedEntries is the size of a map whose size the object leaves to its
// loader.
const raisedEntries = 64

// stackBytes is the size of a stack, of which the object leaves to its loader how deep it
// is: the kernel's kernel.perf_event_max_stack addresses, unless that was changed.
const stackBytes = 127 * 8

// innerEntry stands in for an inner map that the object does not describe.
var innerEntry = ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1}

// fixMaps decides what objects leave to their agent and cannot load without:
// the sizes of maps, and the contents of maps of maps. It removes pinning,
// which would outlive the run.
func fixMaps(spec *ebpf.CollectionSpec) []string {
	made := changes{kind: "map"}
	for name, m := range spec.Maps {
		if m.Pinning != ebpf.PinNone {
			m.Pinning = ebpf.PinNone
			made.add(name, "is not pinned: a run leaves nothing behind", "are not pinned: a run leaves nothing behind")
		}
		if entries := entriesOf(m); entries != m.MaxEntries {
			size := fmt.Sprintf("%d %s instead of %d", entries, entriesAre(m), m.MaxEntries)
			made.add(name, "has "+size, "have "+size)
			m.MaxEntries = entries
		}
		if m.Type == ebpf.StackTrace && m.ValueSize == 0 {
			m.ValueSize = stackBytes
			made.add(name, fmt.Sprintf("has values of %d bytes instead of 0", stackBytes), fmt.Sprintf("have values of %d bytes instead of 0", stackBytes))
		}
		if (m.Type == ebpf.HashOfMaps || m.Type == ebpf.ArrayOfMaps) && m.InnerMap == nil {
			m.InnerMap = innerEntry.Copy()
			made.add(name, "holds arrays of one number: the object does not say what it holds", "hold arrays of one number: the object does not say what they hold")
		}
		if m.InnerMap != nil {
			m.InnerMap.Pinning = ebpf.PinNone
			m.InnerMap.MaxEntries = entriesOf(m.InnerMap)
		}
		if m.Extra != nil {
			extra, _ := io.ReadAll(m.Extra)
			if slices.ContainsFunc(extra, func(b byte) bool { return b != 0 }) {
				made.add(name, "loses what its definition has beyond the fields that the kernel knows", "lose what their definitions have beyond the fields that the kernel knows")
			}
			m.Extra = nil
		}
	}
	return made.sentences()
}

// entriesAre returns what max_entries counts.
func entriesAre(m *ebpf.MapSpec) string {
	if m.Type == ebpf.RingBuf || m.Type == ebpf.UserRingbuf {
		return "bytes"
	}
	return "entries"
}

// entriesOf returns a number of entries that the kernel accepts for a map: a
// ring buffer's are bytes, a power of two of whole pages.
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
