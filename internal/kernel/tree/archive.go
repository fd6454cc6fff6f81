package tree

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Archive holds in memory the files of a kernel from one or more archives.
type Archive struct {
	files map[string][]byte
	links map[string]string
	size  int64
}

// NewArchive returns an empty Archive.
func NewArchive() *Archive {
	return &Archive{files: map[string][]byte{}, links: map[string]string{}}
}

// maxFiles is the largest number of files that an Archive holds.
const maxFiles = 100_000

// AddTar adds the kernel's files in a tar archive.
func (u *Archive) AddTar(in io.Reader) error {
	r := tar.NewReader(io.LimitReader(in, untrusted.MaxArchive))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read tar: %w", err)
		}
		name, err := untrusted.LocalName(header.Name)
		if err != nil {
			return err
		}
		if !wanted(name) {
			continue
		}
		if len(u.files)+len(u.links) >= maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		// lib may be a link to usr/lib, or the other way around.
		name = withoutUsr(name)
		switch header.Typeflag {
		case tar.TypeReg:
			if err := u.add(name, header.Size, r); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
		case tar.TypeSymlink:
			target := header.Linkname
			if !path.IsAbs(target) {
				target = path.Join(path.Dir(name), target)
			}
			u.link(name, target)
		case tar.TypeLink:
			u.link(name, header.Linkname)
		}
	}
}

func (u *Archive) link(name, target string) {
	u.links[name] = withoutUsr(strings.TrimPrefix(path.Clean("/"+target), "/"))
}

func (u *Archive) add(name string, size int64, r io.Reader) error {
	if size > untrusted.MaxKept-u.size {
		return untrusted.TooLargeError(untrusted.MaxKept)
	}
	u.size += size
	data, err := untrusted.ReadN(r, size)
	u.files[name] = data
	return err
}

// Find returns the only kernel in the archive.
func (u *Archive) Find() (*Kernel, error) { return u.tree().find("") }

// tree returns the archive as a file system.
func (u *Archive) tree() *tree {
	names := slices.AppendSeq(slices.Collect(maps.Keys(u.files)), maps.Keys(u.links))
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(name string) bool {
		_, err := u.read(name)
		return err != nil // a link that leads elsewhere
	})
	return &tree{names: names, read: u.read}
}

func (u *Archive) read(name string) ([]byte, error) {
	for range 8 { // more links in a row are a loop
		if data, ok := u.files[name]; ok {
			return data, nil
		}
		name = u.links[name]
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
