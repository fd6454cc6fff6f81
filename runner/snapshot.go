package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// ErrNoSnapshot is returned for a collection with a map whose content cannot be
// read, or not be written back.
var ErrNoSnapshot = errors.New("not all that its maps hold can be read")

// Snapshot is what the maps of a collection held at one moment.
type Snapshot struct{ maps []emptier }

// maxSnapshotArray is how long an array may be to be read and compared entry by
// entry: loading it anew takes less time than a longer one.
const maxSnapshotArray = 4096

// TakeSnapshot reads all maps of a collection that its programs can change.
func TakeSnapshot(coll *ebpf.Collection) (*Snapshot, error) {
	s := &Snapshot{}
	for name, m := range coll.Maps {
		if m.Flags()&unix.BPF_F_RDONLY_PROG != 0 || keepsNothing(m.Type()) {
			continue
		}
		var e emptier
		var err error
		switch {
		case canRestore(m.Type()) && (!indexed(m.Type()) || m.MaxEntries() <= maxSnapshotArray):
			e, err = newRestorer(context.Background(), m)
		case m.Type() == ebpf.RingBuf:
			e, err = newRingEmptier(m)
		default:
			err = ErrNoSnapshot
		}
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("map %s: %w", name, err)
		}
		s.maps = append(s.maps, e)
	}
	return s, nil
}

// keepsNothing tells the maps that no run of a program changes.
func keepsNothing(t ebpf.MapType) bool {
	switch t {
	case ebpf.ProgramArray, ebpf.PerfEventArray, ebpf.DevMap, ebpf.DevMapHash, ebpf.CPUMap, ebpf.XSKMap, ebpf.CGroupArray:
		return true
	}
	return false
}

// Restore gives all maps back what they held.
func (s *Snapshot) Restore() error {
	for _, m := range s.maps {
		if err := m.empty(context.Background()); err != nil {
			return fmt.Errorf("restore a map: %w", err)
		}
	}
	return nil
}

// Close ends the snapshot; the maps stay as they are.
func (s *Snapshot) Close() { closeAll(s.maps) }
