package search

import (
	"bytes"
	"slices"

	"github.com/org/ebpf-bench-action/internal/mutate"
)

// shrinking makes an input plainer as long as it is wanted.
type shrinking struct {
	*search
	wanted func(*Kept) bool
	best   *Kept
}

// smallest returns an input made as plain as possible, such that it is still wanted. It
// returns nil for nil.
func (s *search) smallest(k *Kept, wanted func(*Kept) bool) *Kept {
	if k == nil {
		return nil
	}
	h := &shrinking{s, wanted, k}
	h.entries()
	h.packets()
	h.context()
	for i := range h.best.Packets {
		h.shorten(i)
		h.flatten(i)
	}
	// None of those was tried with everything restored.
	if sure := s.measured(s.target.Confirm, h.best.Input); sure != nil && wanted(sure) {
		return sure
	}
	return k
}

// measured returns an input with what it executes, or nil if it cannot be run.
func (s *search) measured(run runner, in Input) *Kept {
	if _, ok := s.evaluate(run, &in); !ok {
		return nil
	}
	s.take()
	k := &Kept{Input: in, Executed: s.total, Reached: s.none()}
	for b, n := range s.now {
		if n > 0 {
			k.Reached.add(b)
		}
	}
	return k
}

// try makes an input the best one if it will do, which it reports.
func (h *shrinking) try(in Input) bool {
	k := h.measured(h.target.Run, in)
	if k == nil || !h.wanted(k) {
		return false
	}
	h.best = k
	return true
}

// entries leaves out entries of maps, and sets the others to zero.
func (h *shrinking) entries() {
	for i := len(h.best.Entries) - 1; i >= 0; i-- {
		in := h.best.Input
		in.Entries = slices.Delete(slices.Clone(in.Entries), i, i+1)
		if h.try(in) {
			continue
		}
		for at := range h.best.Entries[i].Value {
			in := h.best.Input
			in.Entries = slices.Clone(in.Entries)
			value := bytes.Clone(in.Entries[i].Value)
			if in.Entries[i].Value = value; value[at] != 0 {
				value[at] = 0
				h.try(in)
			}
		}
	}
}

// packets leaves out packets.
func (h *shrinking) packets() {
	for i := len(h.best.Packets) - 1; i >= 0 && len(h.best.Packets) > 1; i-- {
		in := h.best.Input
		in.Packets = slices.Delete(slices.Clone(in.Packets), i, i+1)
		h.try(in)
	}
}

// context leaves out the context, or sets its fields to zero.
func (h *shrinking) context() {
	in := h.best.Input
	if in.Context = nil; h.best.Context == nil || h.try(in) {
		return
	}
	for _, f := range h.fields {
		in := h.best.Input
		in.Context = bytes.Clone(in.Context)
		clear(in.Context[f.At : f.At+f.Size])
		h.try(in)
	}
}

// shorten gives a packet the length of a plain one or, if that will not do, cuts it off.
func (h *shrinking) shorten(i int) {
	packet, plain := h.best.Packets[i], mutate.Frames()[0]
	usual := slices.Concat(packet[:min(len(packet), len(plain))], plain[min(len(packet), len(plain)):])
	if h.try(*h.best.withPacket(i, usual)) {
		return
	}
	for step := len(h.best.Packets[i]) / 2; step > 0; step /= 2 {
		for n := len(h.best.Packets[i]) - step; n >= mutate.MinFrame; n -= step {
			if !h.try(*h.best.withPacket(i, h.best.Packets[i][:n:n])) {
				break
			}
		}
	}
}

// flatten makes bytes of a packet those of a plain one, many at once where that will do.
func (h *shrinking) flatten(i int) {
	plain := slices.Concat(mutate.Frames()[0], make([]byte, len(h.best.Packets[i])))
	for _, size := range []int{1 << 16, 64, 16, 4, 1} {
		for at := 0; at < len(h.best.Packets[i]); at += size {
			packet := bytes.Clone(h.best.Packets[i])
			end := min(at+size, len(packet))
			if copy(packet[at:end], plain[at:end]); !bytes.Equal(packet, h.best.Packets[i]) {
				h.try(*h.best.withPacket(i, packet))
			}
		}
	}
}
