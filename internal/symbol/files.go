package symbol

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/org/ebpf-bench-action/internal/symbol/budget"
)

// debugDir is where distributions install debug information, as gdb has it (Separate
// Debug Files, in its manual).
const debugDir = "/usr/lib/debug"

// debugFile opens an ELF file of its own with the debug information, or with the
// symbols, of a file at a path. It returns an error if there is none.
func debugFile(m image, path string, o Origin) (*os.File, image, string, error) {
	if path, file, found := byBuildID(m.buildID(), o, m.budget); file != nil {
		return file, found, path, nil
	}
	link := m.note(".gnu_debuglink")
	name, rest, ok := strings.Cut(string(link), "\x00")
	// The sum begins where the next multiple of four does.
	if at := (len(name) + 4) &^ 3; ok && name != "" && path != "" && !strings.Contains(name, "/") && len(link) >= at+4 && rest != "" {
		sum := m.ByteOrder.Uint32(link[at:])
		dir := path[:strings.LastIndexByte(path, '/')+1]
		for _, candidate := range []string{dir + name, dir + ".debug/" + name, debugDir + "/" + strings.TrimPrefix(dir, "/") + name} {
			if file, found := open(o, candidate, m.budget, func(f *os.File, m image) bool { return hasSum(f, sum, m.budget) }); file != nil {
				return file, found, candidate, nil
			}
		}
	}
	return nil, image{}, "", errors.New("there is no file with debug information")
}

// altFile opens the file that a file with debug information at a path shares part of it
// with: that of dwz, or of DWARF 5.
func altFile(m image, path string, o Origin) (*os.File, image, error) {
	link := m.note(".gnu_debugaltlink")
	if link == nil {
		return nil, image{}, nil
	}
	name, id, _ := strings.Cut(string(link), "\x00")
	buildID := fmt.Sprintf("%x", id)
	if name != "" && !strings.HasPrefix(name, "/") {
		name = path[:strings.LastIndexByte(path, '/')+1] + name
	}
	if file, found := open(o, name, m.budget, func(_ *os.File, m image) bool { return m.buildID() == buildID }); file != nil {
		return file, found, nil
	}
	if _, file, found := byBuildID(buildID, o, m.budget); file != nil {
		return file, found, nil
	}
	return nil, image{}, fmt.Errorf("no file %s with build ID %s", name, buildID)
}

func byBuildID(id string, o Origin, b *budget.Budget) (string, *os.File, image) {
	if len(id) < 4 {
		return "", nil, image{}
	}
	path := debugDir + "/.build-id/" + id[:2] + "/" + id[2:] + ".debug"
	if file, m := open(o, path, b, func(_ *os.File, m image) bool { return m.buildID() == id }); file != nil {
		return path, file, m
	}
	return "", nil, image{}
}

// open opens an ELF file if it is the one that is looked for, else it returns nil. It must
// belong to the owner of the binary or to root: others could let it name anything.
func open(o Origin, path string, b *budget.Budget, is func(*os.File, image) bool) (*os.File, image) {
	f, err := o.Open(path)
	if err != nil {
		return nil, image{}
	}
	m, err := newImage(f, b)
	if err != nil || !o.Owns(f) && !OfUser(nil, 0).Owns(f) || !is(f, m) {
		f.Close()
		return nil, image{}
	}
	return f, m
}

// hasSum reports whether a file has the CRC that .gnu_debuglink gives (Separate Debug Files, in
// the manual of gdb).
func hasSum(f *os.File, want uint32, b *budget.Budget) bool {
	info, err := f.Stat()
	if err != nil || !b.Take(uint64(info.Size())) {
		return false
	}
	sum := crc32.NewIEEE()
	_, err = io.Copy(sum, io.NewSectionReader(f, 0, info.Size()))
	return err == nil && sum.Sum32() == want
}
