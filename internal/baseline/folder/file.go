package folder

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"syscall"

	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// readFile returns the content of a file in the store.
func readFile(root *os.Root, k format.Kind, name string) ([]byte, error) {
	file, err := readRaw(root, k, name)
	if err != nil {
		return nil, err
	}
	return format.Unseal(k, file)
}

// readRaw returns the bytes of a file in the store.
func readRaw(root *os.Root, k format.Kind, name string) ([]byte, error) {
	// A pipe must not block the reader.
	f, err := root.OpenFile(k.Path(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
	case st.Size() > k.MaxFile():
		return nil, format.TooLarge(st.Size(), k.MaxFile())
	}
	data := make([]byte, st.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// put makes a file with that content, unless it exists and is whole. So it repairs a
// damaged file.
func put(root *os.Root, k format.Kind, name string, content []byte) error {
	if old, err := readFile(root, k, name); err == nil && bytes.Equal(old, content) {
		// Its writer may not have synced the folder yet.
		return syncDir(root, k.Dir)
	}
	return writeFile(root, k, name, format.Seal(k, content))
}

// tmpForm matches the names of files before they appear.
var tmpForm = regexp.MustCompile(`^[a-z]+-[A-Z2-7]{26}$`)

// writeFile makes a file appear whole and durably.
func writeFile(root *os.Root, k format.Kind, name string, data []byte) error {
	tmp := tmpDir + "/" + k.Name + "-" + rand.Text()
	err := writeNew(root, tmp, data)
	if err == nil {
		err = root.Rename(tmp, k.Path(name))
	}
	if err != nil {
		return errors.Join(err, remove(root, tmp))
	}
	return syncDir(root, k.Dir)
}

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

// syncDir makes new files in a folder durable.
func syncDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// names returns the names of the files in a folder, sorted. A folder that does not exist
// has none.
func names(root *os.Root, dir string) ([]string, error) {
	f, err := root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Readdirnames(-1)
	slices.Sort(all)
	return all, err
}

// namesOf returns the names of the files of a kind, sorted, without strays.
func namesOf(root *os.Root, k format.Kind) ([]string, error) {
	all, err := names(root, k.Dir)
	return slices.DeleteFunc(all, func(name string) bool { return !k.Named(name) }), err
}

// remove removes a file, which may be gone already.
func remove(root *os.Root, name string) error {
	if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
