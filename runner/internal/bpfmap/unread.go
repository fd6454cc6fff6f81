package bpfmap

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// UnreadRing is a ring buffer that nobody reads: its program soon finds it
// full.
type UnreadRing struct {
	name string
	ring *ringEmptier
	// runs counts the runs of all slices, grew is its value when the last
	// record was written.
	runs, grew uint64
	position   uint64
}

// NewUnreadRings watches the ring buffers of a collection that are never emptied.
func NewUnreadRings(coll *ebpf.Collection, preps map[string]bench.MapPrep) (all []*UnreadRing, err error) {
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
		all = append(all, &UnreadRing{name: name, ring: e.(*ringEmptier)})
	}
	return all, nil
}

// Ran notes a slice with this many runs.
func (u *UnreadRing) Ran(runs uint64) {
	u.runs += runs
	if now := u.Pending(); now != u.position {
		u.position, u.grew = now, u.runs
	}
}

// Warning says from which run on the ring buffer was full, or returns "" if it
// never was.
func (u *UnreadRing) Warning() string {
	if full, _ := u.ring.Full(); !full || u.runs == u.grew {
		return ""
	}
	return fmt.Sprintf("map %s is full from run %s of a load on, or earlier, because nobody reads it (reset: never): from there on the program is measured with a full one",
		u.name, unit.Exact(float64(u.grew)))
}

// Pending returns the number of unread bytes.
func (u *UnreadRing) Pending() uint64 { return u.ring.Pending() }

// Close ends the watch.
func (u *UnreadRing) Close() error { return u.ring.Close() }
