package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/org/ebpf-bench-action/programs"
)

// FileNames are the possible names of a folder's suite.
var FileNames = []string{"ebpf-bench.yml", "ebpf-bench.yaml"}

// Open reads a suite: the given file, else the one in the current folder, else
// the bundled one.
func Open(file string) (*Suite, error) {
	if file = cmp.Or(file, Here()); file != "" {
		return Load(OS, filepath.ToSlash(file))
	}
	return Bundled()
}

// Here returns the name of the suite in the current folder, or "" if there is
// none.
func Here() string {
	for _, name := range FileNames {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			return name
		}
	}
	return ""
}

// Bundled returns the suite that comes with the tool.
func Bundled() (*Suite, error) {
	s, err := Load(programs.FS, programs.SuiteFile)
	if err != nil {
		return nil, err
	}
	// The reader does not have its file.
	s.Bundled = true
	s.doc.File = s.Name()
	return s, nil
}

// Memory returns a file system of files in memory, by their slash-separated
// paths.
func Memory(files map[string][]byte) fs.FS {
	m := fstest.MapFS{}
	for name, data := range files {
		m[name] = &fstest.MapFile{Data: data, Mode: 0o444}
	}
	return m
}

// ReadObject reads an object from a regular file.
func ReadObject(name string) (Object, error) {
	data, err := fs.ReadFile(OS, name)
	if err != nil {
		return Object{}, fmt.Errorf("read object: %w", err)
	}
	o := NewObject(filepath.Base(name), data)
	o.File = name
	return o, nil
}
