package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// physEntry is XEN_ELFNOTE_PHYS32_ENTRY, the note that tells QEMU where to
// enter a vmlinux.
const physEntry = 18

// checkPVH returns ErrNoPVH unless QEMU can boot the vmlinux in data.
func checkPVH(data []byte) error {
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read vmlinux: %w", untrusted.UnexpectedEOF(err))
	}
	for _, prog := range file.Progs {
		if prog.Type != elf.PT_NOTE {
			continue
		}
		notes, err := untrusted.ReadAll(prog.Open(), untrusted.MaxText)
		if err != nil {
			return fmt.Errorf("read notes of vmlinux: %w", err)
		}
		if hasNote(notes, file.ByteOrder, "Xen", physEntry) {
			return nil
		}
	}
	return ErrNoPVH
}

// hasNote reports whether ELF notes include one with that name and type.
func hasNote(notes []byte, order binary.ByteOrder, name string, typ uint32) bool {
	align4 := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
	for len(notes) >= 12 {
		nameSize, descSize := order.Uint32(notes), order.Uint32(notes[4:])
		got := order.Uint32(notes[8:])
		notes = notes[12:]
		size := align4(nameSize) + align4(descSize)
		if size > uint64(len(notes)) {
			return false
		}
		if got == typ && string(bytes.TrimRight(notes[:nameSize], "\x00")) == name {
			return true
		}
		notes = notes[size:]
	}
	return false
}
