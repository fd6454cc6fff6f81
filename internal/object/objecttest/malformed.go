package objecttest

import (
	"debug/elf"
	"encoding/binary"
	"iter"
	"math/rand/v2"
	"slices"
)

// Malformed makes n objects from little-endian ones: truncated, with flipped
// bits, or with other values in their headers, symbols, relocations and types.
// The same seed always gives the same objects.
func Malformed(seed uint64, n int, of [][]byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		random := rand.New(rand.NewPCG(seed, 1))
		for i := range n {
			object := slices.Clone(of[random.IntN(len(of))])
			damage := damages[i%len(damages)]
			for range 1 + random.IntN(3) {
				object = damage(random, object)
			}
			if !yield(i, object) {
				return
			}
		}
	}
}

var damages = []func(*rand.Rand, []byte) []byte{truncate, flip, damageHeader, damageSection, damageSection, damageTable, damageTable, splice}

func truncate(random *rand.Rand, object []byte) []byte { return object[:random.IntN(len(object)+1)] }

func flip(random *rand.Rand, object []byte) []byte {
	for range min(1+random.IntN(64), len(object)) {
		object[random.IntN(len(object))] ^= 1 << random.IntN(8)
	}
	return object
}

// number returns a number that parsers are known to stumble over.
func number(random *rand.Rand) uint64 {
	numbers := []uint64{0, 1, 7, 8, 0x7f, 0xff, 0x7fff, 0xffff, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	if n := random.IntN(len(numbers) + 4); n < len(numbers) {
		return numbers[n]
	}
	return uint64(random.Int64N(1 << 20))
}

// write writes a number of one of the usual widths somewhere into a range.
func write(random *rand.Rand, object []byte, from, size uint64) {
	if from >= uint64(len(object)) || size == 0 {
		return
	}
	size = min(size, uint64(len(object))-from)
	width := uint64(1) << random.IntN(4)
	var bytes [8]byte
	binary.LittleEndian.PutUint64(bytes[:], number(random))
	copy(object[from+random.Uint64N(size)/width*width:], bytes[:width])
}

func damageHeader(random *rand.Rand, object []byte) []byte {
	write(random, object, 4, 60)
	return object
}

// sections returns the section headers, as far as they are still readable.
func sections(object []byte) (all []elf.Section64, at uint64) {
	var h elf.Header64
	if _, err := binary.Decode(object, binary.LittleEndian, &h); err != nil || h.Shoff > uint64(len(object)) {
		return nil, 0
	}
	all = make([]elf.Section64, h.Shnum)
	if _, err := binary.Decode(object[h.Shoff:], binary.LittleEndian, &all); err != nil {
		return nil, 0
	}
	return all, h.Shoff
}

func damageSection(random *rand.Rand, object []byte) []byte {
	if all, at := sections(object); len(all) > 0 {
		write(random, object, at+64*uint64(random.IntN(len(all))), 64)
	}
	return object
}

// damageTable writes into the contents of a section: instructions, symbols,
// relocations, types or names.
func damageTable(random *rand.Rand, object []byte) []byte {
	if all, _ := sections(object); len(all) > 0 {
		s := all[random.IntN(len(all))]
		for range 1 + random.IntN(8) {
			write(random, object, s.Off, s.Size)
		}
	}
	return object
}

// splice copies a part of the object over another.
func splice(random *rand.Rand, object []byte) []byte {
	if len(object) > 0 {
		from := random.IntN(len(object))
		part := slices.Clone(object[from:min(from+1+random.IntN(256), len(object))])
		copy(object[random.IntN(len(object)):], part)
	}
	return object
}
