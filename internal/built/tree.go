package built

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tree is a checkout.
type tree struct {
	root *os.Root
	// seen are the paths at which a build may have seen it.
	seen []string
	// renewed is when its files were made to look new, zero if that is not known, and
	// seesReads whether reading a file since then left a trace.
	renewed   time.Time
	seesReads bool
	// files are its regular files, by paths in it, and byName those paths by their last name.
	files  map[string]fs.FileInfo
	byName map[string][]string
	// inclusions are the files that others include, as far as that was asked.
	inclusions map[string][]source
}

func openTree(c Checkout, seen ...string) (*tree, error) {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, seen: seen, renewed: c.Renewed, files: map[string]fs.FileInfo{}, byName: map[string][]string{}, inclusions: map[string][]source{}}
	if !c.Renewed.IsZero() {
		t.seesReads, err = seesReads(c.Dir)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return t, nil
}

// list lists the files, but for those of another checkout inside this one.
func (t *tree) list(but string) error {
	return walk(t.root.Name(), func(f file) {
		rel, err := filepath.Rel(t.root.Name(), f.name)
		if err != nil || but != "" && strings.HasPrefix(f.name, but+"/") {
			return
		}
		t.files[rel] = f.info
		t.byName[filepath.Base(rel)] = append(t.byName[filepath.Base(rel)], rel)
	})
}

// stat returns what is known of a regular file, nil if there is none of that path.
func (t *tree) stat(name string) fs.FileInfo {
	if info, ok := t.files[name]; ok {
		return info
	}
	if info, err := t.root.Stat(name); err == nil && info.Mode().IsRegular() {
		return info // by a link
	}
	return nil
}

// short returns the path of a file in the checkout, or else the path itself.
func (t *tree) short(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(t.root.Name(), abs); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// committed reports whether a file of the commit has that content.
func (t *tree) committed(data []byte) (bool, error) {
	if t.renewed.IsZero() {
		return false, nil
	}
	for name, info := range t.files {
		if info.Size() != int64(len(data)) || info.ModTime().Before(t.renewed) || info.ModTime().After(t.renewed.Add(renewed)) {
			continue
		}
		if same, err := t.read(name); err != nil || bytes.Equal(same, data) {
			return err == nil, err
		}
	}
	return false, nil
}

// readsSources reports whether a source was read since the files were renewed.
func (t *tree) readsSources() bool {
	for name, info := range t.files {
		if t.seesReads && isSource(name) && !isUnread(info, t.renewed) {
			return true
		}
	}
	return false
}

// maxFile is the largest file that is read, in bytes.
const maxFile = 64 << 20

// read reads a regular file without a trace, as far as this user may.
func (t *tree) read(name string) ([]byte, error) {
	return readQuietly(func(flags int) (*os.File, error) { return t.root.OpenFile(name, flags, 0) })
}

// isCopy reports whether a file elsewhere has the content of one in the checkout.
func (t *tree) isCopy(elsewhere, file string) bool {
	info, err := os.Stat(elsewhere)
	if mine := t.files[file]; err != nil || mine == nil || mine.Size() != info.Size() {
		return false
	}
	text, err := readQuietly(func(flags int) (*os.File, error) { return os.OpenFile(elsewhere, flags, 0) })
	if err != nil {
		return false
	}
	mine, err := t.read(file)
	return err == nil && bytes.Equal(text, mine)
}

func readQuietly(open func(flags int) (*os.File, error)) ([]byte, error) {
	f, err := open(os.O_RDONLY | unix.O_NONBLOCK | unix.O_NOATIME)
	if err != nil {
		f, err = open(os.O_RDONLY | unix.O_NONBLOCK)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// seesReads reports whether the file system of a folder keeps the time of the last access.
func seesReads(dir string) (bool, error) {
	f, err := os.CreateTemp(dir, ".ebpf-bench-*")
	if err != nil {
		return false, nil // who may not write there cannot know
	}
	_, err = f.WriteString("x")
	defer os.Remove(f.Name())
	if err := errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	now := time.Now()
	if err := os.Chtimes(f.Name(), now.Add(-unread), now.Add(-time.Second)); err != nil {
		return false, err
	}
	if _, err := os.ReadFile(f.Name()); err != nil {
		return false, err
	}
	info, err := os.Stat(f.Name())
	return err == nil && !isUnread(info, now.Add(-time.Second)), err
}
