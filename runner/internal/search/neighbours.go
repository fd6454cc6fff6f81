package search

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/org/ebpf-bench-action/internal/mutate"
)

// head is how many bytes at the start of a packet are tried one by one.
const head = 160

// neighbours tries what differs from an input by one change: operands that jumps compare
// take each other's place, and then every byte on which the path depends takes all values.
func (s *search) neighbours(k *Kept) {
	operands, err := s.target.Operands(s.ctx, &k.Input)
	if err != nil && !isRefused(err) {
		s.err = err
		return
	}
	for _, o := range operands {
		s.substitute(k, o)
		if s.ended() {
			return
		}
	}
	if len(k.Packets) == 0 {
		return
	}
	s.bytes(k)
	s.lengths(k)
}

// substitute tries an input with one operand of a jump in place of the other, and with those
// next to it: with it, the jump may be taken, or not. In what is given to the program,
// operands may have either byte order, and may be a part of a word.
func (s *search) substitute(k *Kept, o Operands) {
	pairs := [][2]uint64{{o.Dst, o.Src}, {o.Src, o.Dst}}
	if o.Constant {
		pairs = pairs[:1] // which is in no input
	}
	for _, pair := range pairs {
		for _, delta := range []uint64{0, 1, ^uint64(0)} {
			from, to := pair[0], pair[1]+delta
			if o.Word {
				from, to = uint64(uint32(from)), uint64(uint32(to))
			}
			for _, size := range []int{1, 2, 4, 8} {
				if size < 8 && from>>(8*size) != 0 || size == 8 && bits.Len64(from|to) <= 32 || size == 4 && bits.Len64(from) <= 8 && bits.Len64(to) <= 16 {
					continue
				}
				little, big := integer(from, size, binary.LittleEndian), integer(from, size, binary.BigEndian)
				s.replace(k, little, integer(to, size, binary.LittleEndian))
				if !bytes.Equal(little, big) || size > 1 {
					s.replace(k, big, integer(to, size, binary.BigEndian))
				}
			}
		}
		if s.ended() {
			return
		}
	}
}

// integer returns the lower bytes of a number.
func integer(v uint64, size int, order binary.ByteOrder) []byte {
	b := make([]byte, 8)
	order.PutUint64(b, v)
	if order == binary.BigEndian {
		return b[8-size:]
	}
	return b[:size]
}

// mostPlaces is in how many places of an input a number is replaced, in one at a time.
const mostPlaces = 16

// replace tries an input with other bytes wherever it has some.
func (s *search) replace(k *Kept, from, to []byte) {
	for i, packet := range k.Packets {
		right := complete(packet)
		for at := range places(packet[:min(len(packet), 4*head)], from) {
			changed := bytes.Clone(packet)
			copy(changed[at:], to)
			in := k.withPacket(i, changed)
			s.try(in)
			if right {
				mutate.Complete(changed, true)
				s.try(in)
			}
		}
	}
	for _, f := range s.fields {
		in := k.Input
		in.Context = s.wholeContext(k.Context)
		if b := in.Context[f.At : f.At+f.Size]; f.Size != len(from) || !bytes.Equal(b, from) {
			continue
		}
		copy(in.Context[f.At:], to)
		s.try(&in)
	}
	for i, e := range k.Entries {
		for at := range places(e.Value, from) {
			in := k.Input
			in.Entries = slices.Clone(k.Entries)
			in.Entries[i].Value = bytes.Clone(e.Value)
			copy(in.Entries[i].Value[at:], to)
			s.try(&in)
		}
	}
}

// places yields where data has some bytes.
func places(data, what []byte) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for at, n := 0, 0; at+len(what) <= len(data) && n < mostPlaces; at++ {
			if bytes.Equal(data[at:at+len(what)], what) {
				if n++; !yield(at) {
					return
				}
			}
		}
	}
}

// withPacket returns an input with another packet in place of one.
func (in *Input) withPacket(i int, packet []byte) *Input {
	other := *in
	other.Packets = slices.Clone(in.Packets)
	other.Packets[i] = packet
	return &other
}

// bytes tries all values of the bytes on which the path depends, of the last packet.
func (s *search) bytes(k *Kept) {
	last := len(k.Packets) - 1
	packet := bytes.Clone(k.Packets[last])
	right := complete(packet)
	in := k.withPacket(last, packet)
	set := func(at int, v byte) {
		copy(packet, k.Packets[last])
		if packet[at] = v; right {
			mutate.Complete(packet, true)
		}
	}
	base, ok := s.evaluate(s.target.Run, in)
	if !ok {
		return
	}
	var hot []int
	for at := range min(len(packet), head) {
		for _, flip := range []byte{0xff, 0x01, 0x80} {
			set(at, k.Packets[last][at]^flip)
			digest, ok := s.evaluate(s.target.Run, in)
			if s.tries++; s.ended() {
				return
			}
			if ok && digest != base {
				hot = append(hot, at)
				break
			}
		}
	}
	for _, at := range hot {
		for v := range 256 {
			set(at, byte(v))
			if s.try(in); s.ended() {
				return
			}
		}
	}
}

// lengths tries the lengths of the last packet that cut it off within its headers.
func (s *search) lengths(k *Kept) {
	last := len(k.Packets) - 1
	packet := k.Packets[last]
	for n := mutate.MinFrame; n < min(len(packet), head); n++ {
		if s.try(k.withPacket(last, packet[:n:n])); s.ended() {
			return
		}
	}
}
