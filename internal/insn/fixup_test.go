package insn

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// kernelTypes is shared because reading those of the kernel takes long.
var kernelTypes = btf.NewCache()

// single returns a spec of one program and the maps that it needs, changed such
// that they can be made without what the program's own loader does to them.
func single(spec *ebpf.CollectionSpec, program string) *ebpf.CollectionSpec {
	all := spec.Copy()
	one := &ebpf.CollectionSpec{
		Programs:  map[string]*ebpf.ProgramSpec{program: all.Programs[program]},
		Maps:      map[string]*ebpf.MapSpec{},
		Variables: map[string]*ebpf.VariableSpec{},
		Types:     all.Types,
		ByteOrder: all.ByteOrder,
	}
	insns := all.Programs[program].Instructions
	for i := range insns {
		if insns[i].IsLoadFromMap() {
			addMap(one, all, insns[i].Reference())
		}
	}
	for name, v := range all.Variables {
		if one.Maps[v.SectionName] != nil {
			one.Variables[name] = v
		}
	}
	return one
}

func addMap(to, from *ebpf.CollectionSpec, name string) {
	m := from.Maps[name]
	if m == nil || to.Maps[name] != nil {
		return
	}
	to.Maps[name] = m
	m.Pinning = ebpf.PinNone
	m.Extra = nil
	switch m.Type {
	case ebpf.PerfEventArray, ebpf.SkStorage, ebpf.TaskStorage, ebpf.InodeStorage, ebpf.CGroupStorage, ebpf.PerCPUCGroupStorage, ebpf.CgroupStorage:
	case ebpf.RingBuf, ebpf.UserRingbuf:
		size := uint32(os.Getpagesize())
		for size < m.MaxEntries {
			size *= 2
		}
		m.MaxEntries = size
	case ebpf.ProgramArray:
		m.Contents = nil
		m.MaxEntries = max(m.MaxEntries, 1)
	default:
		m.MaxEntries = max(m.MaxEntries, 1)
	}
	if (m.Type == ebpf.HashOfMaps || m.Type == ebpf.ArrayOfMaps) && m.InnerMap == nil {
		m.InnerMap = &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1}
	}
	for _, kv := range m.Contents {
		if inner, ok := kv.Value.(string); ok {
			addMap(to, from, inner)
		}
	}
}

var processed = regexp.MustCompile(`(?m)^processed (\d+) insns`)

// verified is how many instructions the verifier says that it walked.
func verified(t testing.TB, log string) int {
	t.Helper()
	m := processed.FindStringSubmatch(log)
	if m == nil {
		t.Fatalf("verifier's log has no %s", processed)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// loadWithLog loads a spec with the verifier's figures in the log.
func loadWithLog(t testing.TB, spec *ebpf.CollectionSpec) (*ebpf.Collection, error) {
	coll, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{
		Programs: ebpf.ProgramOptions{LogLevel: ebpf.LogLevelStats},
		Cache:    kernelTypes,
	})
	if err == nil {
		t.Cleanup(coll.Close)
	}
	return coll, err
}
