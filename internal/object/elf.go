package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// maxZeroes bounds the claimed size of sections without bytes in the file, such
// as .bss. Programs have kilobytes of it.
const maxZeroes = 64 << 20

// file is an ELF file that can be edited before it is parsed. Everything that
// its headers refer to is within the file, so that reading it takes memory in
// proportion.
type file struct {
	data     []byte
	order    binary.ByteOrder
	sections []section
}

// section is a section header.
type section struct {
	elf.Section64
	name string
	// at is the position of the header in the file.
	at uint64
}

var errTruncated = errors.New("it is truncated")

// openFile checks the headers of an ELF file, and copies it.
func openFile(data []byte) (*file, error) {
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return nil, errors.New("it is not an ELF file")
	}
	if len(data) < binary.Size(elf.Header64{}) {
		return nil, errTruncated
	}
	if class := elf.Class(data[elf.EI_CLASS]); class != elf.ELFCLASS64 {
		return nil, bench.WithHint(errors.New("it is not a 64-bit ELF file, as eBPF objects are"), "build it with -target bpf")
	}
	f := &file{data: slices.Clone(data), order: binary.LittleEndian}
	if elf.Data(data[elf.EI_DATA]) == elf.ELFDATA2MSB {
		f.order = binary.BigEndian
	}
	var h elf.Header64
	_, _ = binary.Decode(data, f.order, &h)
	// Old compilers leave the machine out.
	if m := elf.Machine(h.Machine); m != elf.EM_BPF && m != elf.EM_NONE {
		return nil, bench.WithHint(fmt.Errorf("it is built for %s and not for eBPF", machineName(m)), "build it with -target bpf")
	}
	if f.order.Uint16([]byte{0, 1}) != binary.NativeEndian.Uint16([]byte{0, 1}) {
		return nil, foreignOrder(f.order)
	}
	return f, f.readSections(&h)
}

func machineName(m elf.Machine) string {
	return strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
}

// foreignOrder returns the error for an object of the other byte order.
func foreignOrder(order binary.ByteOrder) error {
	has, target, takes := "big", "bpfeb", "bpfel"
	if order == binary.LittleEndian {
		has, target, takes = "little", "bpfel", "bpfeb"
	}
	return bench.WithHint(fmt.Errorf("it is a %s-endian object, built for %s, and this machine (%s) is not", has, target, runtime.GOARCH),
		"build it with -target "+takes)
}

// readSections reads the section headers. It checks that sections are within
// the file and do not overlap such that the same bytes would be read many
// times.
func (f *file) readSections(h *elf.Header64) error {
	size := uint64(len(f.data))
	headerSize := uint64(binary.Size(elf.Section64{}))
	if h.Shoff == 0 {
		return errors.New("it has no sections")
	}
	if uint64(h.Shentsize) != headerSize {
		return errors.New("its section headers are malformed")
	}
	if h.Shoff > size || size-h.Shoff < headerSize {
		return errTruncated
	}
	var first elf.Section64
	_, _ = binary.Decode(f.data[h.Shoff:], f.order, &first)
	count, names := uint64(h.Shnum), uint64(h.Shstrndx)
	// If a number does not fit the file header, the first section's header has
	// it.
	if count == 0 {
		count = first.Size
	}
	if h.Shstrndx == uint16(elf.SHN_XINDEX) {
		names = uint64(first.Link)
	}
	if count > (size-h.Shoff)/headerSize {
		return errTruncated
	}
	f.sections = make([]section, count)
	var bytes, zeroes uint64
	for i := range f.sections {
		s := &f.sections[i]
		s.at = h.Shoff + uint64(i)*headerSize
		_, _ = binary.Decode(f.data[s.at:], f.order, &s.Section64)
		switch elf.SectionType(s.Type) {
		case elf.SHT_NULL:
		case elf.SHT_NOBITS:
			if zeroes += s.Size; s.Size > maxZeroes || zeroes > maxZeroes {
				return fmt.Errorf("its sections without contents, such as .bss, claim more than %d MiB", maxZeroes>>20)
			}
		default:
			if s.Off > size || s.Size > size-s.Off {
				return errTruncated
			}
			bytes += s.Size
		}
	}
	if bytes > 2*size {
		return errors.New("it is malformed: its sections overlap")
	}
	if names >= count {
		return errors.New("it is malformed: its sections have no names")
	}
	table := f.contents(&f.sections[names])
	for i := range f.sections {
		s := &f.sections[i]
		s.name = text(table, s.Name)
		if elf.SectionFlag(s.Flags)&elf.SHF_COMPRESSED != 0 && !strings.HasPrefix(s.name, ".debug") {
			return fmt.Errorf("its section %q is compressed, which only debug sections may be", s.name)
		}
	}
	return nil
}

// contents returns the bytes of a section, or nil if the file has none.
func (f *file) contents(s *section) []byte {
	switch elf.SectionType(s.Type) {
	case elf.SHT_NULL, elf.SHT_NOBITS:
		return nil
	}
	return f.data[s.Off:][:s.Size]
}

// text returns a string of a string table, or "" beyond its end.
func text(table []byte, at uint32) string {
	if uint64(at) >= uint64(len(table)) {
		return ""
	}
	s, _, _ := bytes.Cut(table[at:], []byte{0})
	return string(s)
}

// find returns the section with that name, or nil.
func (f *file) find(name string) *section {
	i := slices.IndexFunc(f.sections, func(s section) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &f.sections[i]
}

// hide makes a section one that nobody reads.
func (f *file) hide(s *section) {
	s.Section64 = elf.Section64{Addralign: 1}
	s.name = ""
	_, _ = binary.Encode(f.data[s.at:], f.order, &s.Section64)
}
