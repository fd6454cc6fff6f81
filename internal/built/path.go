package built

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// DoubtPaths says which path may make two objects differ that were built at different ones: a
// program of theirs knows that of its checkout, by __FILE__ for one. It is empty if none does.
func (s *Sides) DoubtPaths(base, head string) (string, error) {
	baseData, err := os.ReadFile(base)
	if err != nil {
		return "", err
	}
	headData, err := os.ReadFile(head)
	if err != nil || bytes.Equal(baseData, headData) {
		return "", err
	}
	for _, side := range []struct {
		*tree
		data []byte
	}{{s.base, baseData}, {s.head, headData}} {
		path, err := filepath.EvalSymlinks(side.root.Name())
		if err != nil {
			return "", err
		}
		for _, path := range []string{path, side.root.Name()} {
			if knowsPath(side.data, path+"/") {
				return fmt.Sprintf("the base was built at another path than the head, and %s holds it: %s", s.base.short(base), path), nil
			}
		}
	}
	return "", nil
}

// knowsPath reports whether a path is in what the kernel gets of an object.
func knowsPath(object []byte, path string) bool {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return false
	}
	defer f.Close()
	for _, section := range f.Sections {
		if section.Type != elf.SHT_PROGBITS || section.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		data, err := section.Data()
		if err == nil && (bytes.Contains(data, []byte(path)) || section.Flags&elf.SHF_EXECINSTR != 0 && writesPath(data, path)) {
			return true
		}
	}
	return false
}

// writesPath reports whether instructions write a path to the stack. Compilers do that in
// pieces of at least four bytes, in any order, and what is left in smaller ones.
func writesPath(instructions []byte, path string) bool {
	const size = 8
	pieces := map[uint32]bool{}
	for ; len(instructions) >= size; instructions = instructions[size:] {
		pieces[binary.NativeEndian.Uint32(instructions[4:])] = true
	}
	for start := range 4 {
		found := 0
		for rest := []byte(path)[min(start, len(path)):]; len(rest) >= 4 && pieces[binary.NativeEndian.Uint32(rest)]; rest = rest[4:] {
			found++
		}
		if found >= 2 && found == (len(path)-start)/4 {
			return true
		}
	}
	return false
}
