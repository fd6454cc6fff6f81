package exchange

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

// socketMapsOf returns the loaded maps of these types that the program uses, in
// the order of their names.
func socketMapsOf(p *ebpf.Program, types []ebpf.MapType) (maps []*ebpf.Map, err error) {
	info, err := p.Info()
	if err != nil {
		return nil, fmt.Errorf("list the program's maps: %w", err)
	}
	ids, ok := info.MapIDs()
	if !ok {
		return nil, errors.New("list the program's maps: the kernel does not tell them")
	}
	names := map[*ebpf.Map]string{}
	for _, id := range ids {
		m, err := ebpf.NewMapFromID(id)
		if err != nil {
			driver.CloseAll(maps)
			return nil, fmt.Errorf("open a map of the program: %w", err)
		}
		if !slices.Contains(types, m.Type()) {
			m.Close()
			continue
		}
		about, err := m.Info()
		if err == nil {
			names[m] = about.Name
		}
		maps = append(maps, m)
	}
	slices.SortStableFunc(maps, func(a, b *ebpf.Map) int { return cmp.Compare(names[a], names[b]) })
	return maps, nil
}

// newSocketMap makes a map for a program that names none.
func newSocketMap() (*ebpf.Map, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Name: "sockets", Type: ebpf.SockMap, KeySize: 4, ValueSize: 4, MaxEntries: 2})
	if err != nil {
		return nil, fmt.Errorf("make a sockmap: %w", err)
	}
	return m, nil
}

// putSockets puts as many of the sockets into a map as fit, at the keys 0, 1
// and so on.
func putSockets(m *ebpf.Map, sockets []int) error {
	for i, fd := range sockets[:min(len(sockets), int(m.MaxEntries()))] {
		key, value := make([]byte, max(m.KeySize(), 4)), make([]byte, max(m.ValueSize(), 4))
		binary.NativeEndian.PutUint32(key, uint32(i))
		binary.NativeEndian.PutUint32(value, uint32(fd))
		if err := m.Put(key[:m.KeySize()], value[:m.ValueSize()]); err != nil {
			return fmt.Errorf("put a socket into a %s: %w", m.Type(), err)
		}
	}
	return nil
}
