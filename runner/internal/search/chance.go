package search

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/mutate"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// pick returns an input to change: one that costs most, or executes some block most often,
// or any, of which later ones are likelier.
func (s *search) pick() *Kept {
	switch s.rand.IntN(4) {
	case 0:
		if s.plain != nil && s.rand.IntN(2) == 0 {
			return s.plain
		}
		return s.worst
	case 1:
		for range 8 {
			if k := s.holder[s.rand.IntN(len(s.holder))]; k != nil {
				return k
			}
		}
	}
	n := len(s.kept)
	if s.rand.IntN(2) == 0 {
		return s.kept[n-1-s.rand.IntN(1+n/4)]
	}
	return s.kept[s.rand.IntN(n)]
}

// mutant returns a kept input with something changed at random.
func (s *search) mutant() *Input {
	in := s.pick().Input
	in.Packets = slices.Clone(in.Packets)
	packets := progrun.TakesPackets(s.target.typ)
	for once := false; ; once = true {
		switch kind := s.rand.IntN(8); {
		case kind < 2 && len(s.target.Keys) > 0:
			in.Entries = s.changeEntries(in.Entries)
		case (kind == 2 || !packets) && len(s.fields) > 0:
			in.Context = s.changeContext(in.Context)
		case kind == 3 && packets && s.target.Remembers():
			in.Packets = s.changeSequence(in.Packets)
		case packets:
			i := s.rand.IntN(len(in.Packets))
			in.Packets[i] = s.changePacket(in.Packets[i])
		}
		if once || s.rand.IntN(2) == 0 {
			return &in
		}
	}
}

// blank returns an input that owes nothing to others.
func (s *search) blank() *Input {
	in := &Input{}
	if progrun.TakesPackets(s.target.typ) {
		frames := mutate.Frames()
		in.Packets = [][]byte{s.mutator.Frame(frames[s.rand.IntN(len(frames))], frames[0])}
	}
	if len(s.fields) > 0 && s.rand.IntN(2) == 0 {
		in.Context = s.changeContext(nil)
	}
	return in
}

// changePacket returns a packet that differs from a given one. Mostly its lengths and
// checksums are right if the other's are.
func (s *search) changePacket(packet []byte) []byte {
	other := s.kept[s.rand.IntN(len(s.kept))].Packets
	right, kind := complete(packet), s.rand.IntN(8)
	packet = s.mutator.Frame(packet, other[s.rand.IntN(len(other))])
	if right == (kind > 0) {
		mutate.Complete(packet, kind != 1)
	}
	return packet
}

// complete reports whether a packet's lengths and checksums are right.
func complete(packet []byte) bool {
	right := bytes.Clone(packet)
	mutate.Complete(right, true)
	return bytes.Equal(right, packet)
}

// changeSequence adds, removes or swaps packets.
func (s *search) changeSequence(packets [][]byte) [][]byte {
	n := len(packets)
	i := s.rand.IntN(n)
	switch kind := s.rand.IntN(4); {
	case n > 1 && (kind == 0 || n >= MostPackets):
		return slices.Delete(packets, i, i+1)
	case n > 1 && kind == 1:
		j := s.rand.IntN(n)
		packets[i], packets[j] = packets[j], packets[i]
		return packets
	case kind == 2:
		return append(packets, s.changePacket(packets[i]))
	}
	others := s.pick().Packets
	return append(packets, others[s.rand.IntN(len(others))])
}

// changeContext returns a context that differs from a given one in a field.
func (s *search) changeContext(given []byte) []byte {
	context := s.wholeContext(given)
	f := s.fields[s.rand.IntN(len(s.fields))]
	b := context[f.At : f.At+f.Size]
	switch s.rand.IntN(4) {
	case 0:
		clear(b)
	case 1, 2:
		putInt(b, uint64(s.rand.IntN(9)))
	default:
		s.mutator.Bytes(b)
	}
	return context
}

// wholeContext returns a copy of a context that has all fields.
func (s *search) wholeContext(given []byte) []byte {
	return append(bytes.Clone(given), make([]byte, max(s.size-len(given), 0))...)
}

// putInt sets a field of one, two, four or eight bytes.
func putInt(b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.NativeEndian.PutUint16(b, uint16(v))
	case 4:
		binary.NativeEndian.PutUint32(b, uint32(v))
	default:
		binary.NativeEndian.PutUint64(b, v)
	}
}

// mostEntries bounds the entries of maps of an input.
const mostEntries = 8

// changeEntries adds, changes or removes an entry of a map.
func (s *search) changeEntries(given []Entry) []Entry {
	entries := slices.Clone(given)
	n := len(entries)
	switch kind := s.rand.IntN(8); {
	case n > 0 && kind == 0:
		i := s.rand.IntN(n)
		return slices.Delete(entries, i, i+1)
	case n > 0 && kind < 5:
		e := &entries[s.rand.IntN(n)]
		e.Value = bytes.Clone(e.Value)
		for range 1 << s.rand.IntN(3) {
			s.mutator.Bytes(e.Value)
		}
		return entries
	}
	e := s.target.Keys[s.rand.IntN(len(s.target.Keys))]
	e.Value = make([]byte, s.target.ValueSize(e.Map))
	switch s.rand.IntN(3) {
	case 0:
		for i := range e.Value {
			e.Value[i] = byte(s.rand.Uint32())
		}
	case 1:
		s.mutator.Bytes(e.Value)
	}
	if s.target.MapType(e.Map) == ebpf.LPMTrie && s.rand.IntN(2) == 0 {
		e.Key = bytes.Clone(e.Key)
		bits := binary.NativeEndian.Uint32(e.Key)
		binary.NativeEndian.PutUint32(e.Key, bits-uint32(s.rand.IntN(int(min(bits, 128))+1)))
	}
	for i := range entries {
		if entries[i].Map == e.Map && bytes.Equal(entries[i].Key, e.Key) {
			entries[i] = e
			return entries
		}
	}
	if n < mostEntries {
		entries = append(entries, e)
	}
	return entries
}
