package folder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// newName returns a name that no file has.
func newName() string { return rand.Text() }

// readRaw returns the bytes of a file.
func readRaw(root *os.Root, name string, most int64) ([]byte, error) {
	// A pipe must not block the reader.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, errors.New("no regular file")
	case st.Size() > most:
		return nil, fmt.Errorf("%d bytes are more than the %d MiB that are plausible", st.Size(), max(most>>20, 1))
	}
	data := make([]byte, st.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// writeNew makes a file, durably.
func writeNew(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := handOverTo(root, f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// syncDir makes new names in a folder durable.
func syncDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// names returns the names in a folder, sorted.
func names(root *os.Root, dir string) ([]string, error) {
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Readdirnames(-1)
	slices.Sort(all)
	return all, err
}

func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
