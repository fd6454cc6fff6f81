package vm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// checkImage refuses what QEMU would not boot: QEMU would go on silently, or
// fail with a message for its developers. It returns where in the guest's
// memory the kernel ends.
func checkImage(name string) (end uint64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, &Fault{Kind: ErrNoKernel, Reason: err.Error()}
	}
	defer f.Close()
	if end, err = kernelEnd(f); err != nil {
		return 0, &Fault{Kind: ErrNoKernel, Reason: fmt.Sprintf("%s: %s", name, err)}
	}
	return end, nil
}

func kernelEnd(r io.ReaderAt) (uint64, error) {
	var head [0x264]byte // the relevant part of a bzImage's header
	switch _, err := r.ReadAt(head[:], 0); {
	case errors.Is(err, io.EOF):
		return 0, errors.New("it is too short for one")
	case err != nil:
		return 0, err
	}
	switch {
	case string(head[0x202:][:4]) == "HdrS":
		// The preferred address, and the memory needed there.
		return binary.LittleEndian.Uint64(head[0x258:]) + uint64(binary.LittleEndian.Uint32(head[0x260:])), nil
	case bytes.HasPrefix(head[:], []byte(elf.ELFMAG)):
		return vmlinuxEnd(r)
	}
	return 0, errors.New("neither a bzImage nor a vmlinux")
}

// vmlinuxEnd returns where a vmlinux ends. It also looks for the note with the
// entry point for PVH, a protocol of Xen, which lets QEMU enter a vmlinux.
func vmlinuxEnd(r io.ReaderAt) (end uint64, err error) {
	file, err := elf.NewFile(r)
	if err != nil {
		return 0, err
	}
	if file.Machine != elf.EM_X86_64 {
		return 0, fmt.Errorf("it is for %s", file.Machine)
	}
	found := false
	for _, prog := range file.Progs {
		switch prog.Type {
		case elf.PT_LOAD:
			end = max(end, prog.Paddr+prog.Memsz)
		case elf.PT_NOTE:
			notes, err := io.ReadAll(io.LimitReader(prog.Open(), 64<<10))
			found = found || err == nil && bytes.Contains(notes, pvhNote)
		}
	}
	if !found {
		return 0, errors.New("an ELF file without a PVH entry point")
	}
	return end, nil
}

// pvhNote is the start of the note XEN_ELFNOTE_PHYS32_ENTRY, after the sizes.
var pvhNote = []byte("\x12\x00\x00\x00Xen\x00")
