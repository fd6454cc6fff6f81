package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// FromDebs is the kernel of one or more .deb files, over which Debian splits
// image, modules and config since Linux 6.18.
func FromDebs(names ...string) (*Kernel, error) {
	all := newUnpacked()
	for _, name := range names {
		if err := addDebFile(all, name); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	k, err := all.tree().load("")
	if err != nil {
		return nil, fmt.Errorf("find a kernel in %s: %w", strings.Join(names, ", "), err)
	}
	bases := make([]string, len(names))
	for i, name := range names {
		bases[i] = filepath.Base(name)
	}
	k.Origin = strings.Join(bases, ", ")
	return k, nil
}

func addDebFile(u *unpacked, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return u.addDeb(f)
}

// addDeb keeps what a .deb has of a kernel.
func (u *unpacked) addDeb(in io.Reader) error {
	ar, err := newArReader(in)
	if err != nil {
		return fmt.Errorf("not a .deb: %w", err)
	}
	for {
		member, err := ar.next()
		if errors.Is(err, io.EOF) {
			return errors.New("not a .deb: it has no data.tar")
		}
		if err != nil {
			return err
		}
		switch {
		case member == "data.tar":
			return u.addTarToEnd(ar)
		case strings.HasPrefix(member, "data.tar."):
			if err := u.addPackedTar(ar); err != nil {
				return fmt.Errorf("unpack %s: %w", member, err)
			}
			return nil
		}
	}
}

func (u *unpacked) addPackedTar(in io.Reader) error {
	data, err := decompressor(in)
	if err != nil {
		return err
	}
	defer data.Close()
	if err := u.addTarToEnd(data); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// addTarToEnd reads on behind the end of the tar archive, where checksums are
// that tell whether it was damaged.
func (u *unpacked) addTarToEnd(in io.Reader) error {
	if err := u.addTar(in); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, io.LimitReader(in, maxArchive))
	return err
}
