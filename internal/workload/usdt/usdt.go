// Package usdt finds static probes in user code, and the places of their
// arguments for programs.
package usdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Place is one of the places of a static probe in a program or a library.
type Place struct {
	// Offset is the offset of the probe's instruction in the file.
	Offset uint64
	// Semaphore is the offset in the file of the count of the probe's watchers,
	// 0 if there is none.
	Semaphore uint64
	// arguments are the places of the probe's arguments, as written by the
	// compiler.
	arguments string
}

// Find finds the places of a probe in a file, by PROVIDER:NAME. Probes are in
// notes, described in
// sourceware.org/systemtap/wiki/UserSpaceProbeImplementation.
func Find(path, probe string) ([]Place, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(".note.stapsdt")
	if section == nil {
		return nil, fmt.Errorf("%s has no static probes", path)
	}
	notes, err := section.Data()
	if err != nil {
		return nil, fmt.Errorf("read the static probes of %s: %w", path, err)
	}
	var found []Place
	var names []string
	for note := range eachNote(notes, f.ByteOrder) {
		u, name, err := placeOf(f, note)
		if err != nil {
			return nil, fmt.Errorf("read the static probes of %s: %w", path, err)
		}
		if names = append(names, name); name == probe {
			found = append(found, u)
		}
	}
	if len(found) == 0 {
		slices.Sort(names)
		return nil, fmt.Errorf("%s has no static probe %s: it has %s", path, probe, strings.Join(slices.Compact(names), ", "))
	}
	return found, nil
}

// eachNote yields the descriptions of the probes among ELF notes.
func eachNote(notes []byte, order binary.ByteOrder) func(func([]byte) bool) {
	const header, probe = 12, 3
	return func(yield func([]byte) bool) {
		for len(notes) >= header {
			name, desc := uint64(order.Uint32(notes)), uint64(order.Uint32(notes[4:]))
			kind := order.Uint32(notes[8:])
			start := header + (name+3)&^3
			end := start + desc
			if end > uint64(len(notes)) {
				return
			}
			if kind == probe && !yield(notes[start:end]) {
				return
			}
			notes = notes[min((end+3)&^3, uint64(len(notes))):]
		}
	}
}

func placeOf(f *elf.File, note []byte) (u Place, name string, err error) {
	const words = 3 * 8
	if f.Class != elf.ELFCLASS64 || len(note) < words {
		return u, "", errors.New("they are not of a 64-bit machine")
	}
	texts := bytes.SplitN(note[words:], []byte{0}, 4)
	if len(texts) < 3 {
		return u, "", errors.New("a note ends early")
	}
	u.arguments = string(texts[2])
	at, base, semaphore := f.ByteOrder.Uint64(note), f.ByteOrder.Uint64(note[8:]), f.ByteOrder.Uint64(note[16:])
	// The file may have been moved after it was linked.
	moved := uint64(0)
	if s := f.Section(".stapsdt.base"); s != nil && base != 0 {
		moved = s.Addr - base
	}
	if u.Offset, err = fileOffset(f, at+moved); err == nil && semaphore != 0 {
		u.Semaphore, err = fileOffset(f, semaphore+moved)
	}
	return u, string(texts[0]) + ":" + string(texts[1]), err
}

// fileOffset returns the offset in a file of what is loaded to an address.
func fileOffset(f *elf.File, address uint64) (uint64, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address-p.Vaddr < p.Memsz {
			return address - p.Vaddr + p.Off, nil
		}
	}
	return 0, fmt.Errorf("nothing is loaded to address %#x", address)
}
