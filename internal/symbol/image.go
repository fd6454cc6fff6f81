package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

const (
	// maxSections and maxNames bound the section headers of a file, and the bytes of
	// their names: debug/elf copies each name. Linkers write some 40 sections.
	maxSections = 1 << 10
	maxNames    = 64 << 10
	// maxSegments bounds the program headers of a file. Linkers write some 15.
	maxSegments = 1 << 10
	// maxNotes bounds what a file says of itself and of others, in bytes.
	maxNotes = 64 << 10
	// maxRatio is by how much sections may be compressed. Those with debug information
	// are by 3 to 10.
	maxRatio = 64
)

// image is an ELF file.
type image struct {
	*elf.File
	budget *budget.Budget
}

// newImage reads the headers of a file. Its sections take of the budget.
func newImage(r io.ReaderAt, b *budget.Budget) (m image, err error) {
	// debug/elf is not hardened against malformed files, as its documentation says.
	defer func() {
		if recover() != nil {
			err = errors.New("its headers are malformed")
		}
	}()
	size, err := checkHeader(r)
	if err != nil {
		return image{}, err
	}
	if !b.Take(size) {
		return image{}, errors.New("there is no room for its headers")
	}
	f, err := elf.NewFile(r)
	if err != nil {
		return image{}, fmt.Errorf("read ELF headers: %w", err)
	}
	return image{f, b}, nil
}

// checkHeader refuses files with implausibly many segments or sections, or names of these. It
// returns what the others take of the memory, in bytes.
func checkHeader(r io.ReaderAt) (uint64, error) {
	const each, segment, section = 4 << 10, 128, 256
	var head [64]byte
	if n, _ := r.ReadAt(head[:], 0); n < 52 || string(head[:4]) != elf.ELFMAG {
		return 0, errors.New("it is not an ELF file")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	offset, counts, entry := int64(order.Uint32(head[32:])), head[44:], make([]byte, 24)
	is64 := elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64
	if is64 {
		offset, counts, entry = int64(order.Uint64(head[40:])), head[56:], make([]byte, 40)
	}
	segments, size, count, names := order.Uint16(counts), order.Uint16(counts[2:]), order.Uint16(counts[4:]), order.Uint16(counts[6:])
	if segments > maxSegments {
		return 0, errors.New("it has too many segments")
	}
	taken := each + segment*uint64(segments)
	if offset == 0 {
		return taken, nil
	}
	// A count of 0 means that there are more than fit in there.
	if count == 0 || count > maxSections {
		return 0, errors.New("it has too many sections")
	}
	if _, err := r.ReadAt(entry, offset+int64(names)*int64(size)); err != nil {
		return 0, fmt.Errorf("read section headers: %w", err)
	}
	flags, length := uint64(order.Uint32(entry[8:])), uint64(order.Uint32(entry[20:]))
	if is64 {
		flags, length = order.Uint64(entry[8:]), order.Uint64(entry[32:])
	}
	switch {
	case length > maxNames:
		return 0, errors.New("its sections have too long names")
	case flags&uint64(elf.SHF_COMPRESSED) != 0:
		return 0, errors.New("the names of its sections are compressed")
	}
	// Sections can have one long name.
	return taken + (section+length)*uint64(count), nil
}

// data returns what a section contains, without compression, and nil if there is no
// such section in the file. Sections .debug_X may be named .zdebug_X.
func (m image) data(name string) ([]byte, error) { return m.read(name, m.budget.Take) }

// note returns what a section contains that is small in files of linkers, and takes nothing
// of the budget.
func (m image) note(name string) []byte {
	data, _ := m.read(name, func(size uint64) bool { return size <= maxNotes }) // nil if it cannot be read
	return data
}

// read returns what a section contains, if its size is admitted.
func (m image) read(name string, admit func(size uint64) bool) (data []byte, err error) {
	// See newImage.
	defer func() {
		if recover() != nil {
			data, err = nil, fmt.Errorf("section %s is malformed", name)
		}
	}()
	s := m.Section(name)
	if s == nil && len(name) > 1 {
		s = m.Section(".z" + name[1:])
	}
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	r := s.Open() // sets the size of sections .zdebug_X
	switch {
	case s.Size > maxRatio*s.FileSize:
		return nil, fmt.Errorf("section %s is compressed implausibly well", s.Name)
	case !admit(s.Size):
		return nil, fmt.Errorf("section %s is too large", s.Name)
	}
	data = make([]byte, s.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("read section %s: %w", name, err)
	}
	return data, nil
}

// buildID returns the build ID in hexadecimal, or an empty string. Notes are described
// in elf(5).
func (m image) buildID() string {
	if notes := m.note(".note.gnu.build-id"); notes != nil {
		return m.idIn(notes)
	}
	left := int64(maxNotes)
	for _, p := range m.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		data, _ := io.ReadAll(io.LimitReader(p.Open(), left))
		if id := m.idIn(data); id != "" {
			return id
		}
		left -= int64(len(data))
	}
	return ""
}

func (m image) idIn(notes []byte) string {
	const buildID = 3
	for len(notes) >= 12 {
		nameSize, size, kind := m.ByteOrder.Uint32(notes), m.ByteOrder.Uint32(notes[4:]), m.ByteOrder.Uint32(notes[8:])
		name := notes[12:]
		// Both end where the next multiple of four does.
		from := (uint64(nameSize) + 3) &^ 3
		to := from + (uint64(size)+3)&^3
		if from > uint64(len(name)) || from+uint64(size) > uint64(len(name)) {
			return ""
		}
		if kind == buildID && bytes.HasPrefix(name[:nameSize], []byte("GNU\x00")) && size > 1 && size <= 64 {
			return hex.EncodeToString(name[from : from+uint64(size)])
		}
		notes = name[min(to, uint64(len(name))):]
	}
	return ""
}
