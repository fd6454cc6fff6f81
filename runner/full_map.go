package runner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// unreadRing is a ring buffer that nobody reads: its program soon finds it full.
type unreadRing struct {
	name string
	ring *ringEmptier
	// runs are those of all slices, grew is how many there were when the last
	// record was written.
	runs, grew uint64
	position   uint64
}

// newUnreadRings watches the ring buffers of a collection that are never emptied.
func newUnreadRings(coll *ebpf.Collection, preps map[string]bench.MapPrep) (all []*unreadRing, err error) {
	for _, name := range slices.Sorted(maps.Keys(preps)) {
		m := coll.Maps[name]
		if m == nil || m.Type() != ebpf.RingBuf || preps[name].Reset != bench.ResetNever {
			continue
		}
		e, err := newRingEmptier(m)
		if err != nil {
			closeAll(all)
			return nil, fmt.Errorf("watch map %s: %w", name, err)
		}
		all = append(all, &unreadRing{name: name, ring: e.(*ringEmptier)})
	}
	return all, nil
}

// ran notes a slice of so many runs.
func (u *unreadRing) ran(runs uint64) {
	u.runs += runs
	if now := u.ring.pending(); now != u.position {
		u.position, u.grew = now, u.runs
	}
}

// warning says from which run on the ring buffer was full, empty where it was not.
func (u *unreadRing) warning() string {
	if full, _ := u.ring.full(); !full || u.runs == u.grew {
		return ""
	}
	return fmt.Sprintf("map %s is full from about run %s of a load on, because nobody reads it (reset: never): what is measured from there is how the program fares with a full one",
		u.name, unit.Exact(float64(u.grew)))
}

func (u *unreadRing) Close() error { return u.ring.Close() }
