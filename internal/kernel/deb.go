package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
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
	k, err := all.tree().loadDebs()
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("find a kernel in %s: %w", strings.Join(names, ", "), err), bench.Hint(err))
	}
	bases := make([]string, len(names))
	for i, name := range names {
		bases[i] = filepath.Base(name)
	}
	k.Origin = strings.Join(bases, ", ")
	return k, nil
}

// loadDebs is load for a tree of packages, of which some may not be there.
func (t *tree) loadDebs() (*Kernel, error) {
	releases := t.moduleReleases()
	k, err := t.load("")
	var noImage noImageError
	switch {
	case errors.As(err, &noImage) && len(releases) > 0:
		return nil, bench.WithHint(err, fmt.Sprintf(
			"These are its modules alone: give them together with its image, the package linux-binary-%[1]s, or linux-image-%[1]s where there is no such one.", releases[0]))
	case errors.As(err, &noImage):
		return nil, bench.WithHint(err, "Debian splits a kernel over packages: give linux-base-RELEASE, linux-binary-RELEASE and linux-modules-RELEASE together.")
	case err == nil && len(releases) > 0 && !slices.Contains(releases, k.Release):
		return nil, bench.WithHint(
			fmt.Errorf("the image is of Linux %s, the modules are of %s", k.Release, strings.Join(releases, ", ")),
			"Give packages of one release together.")
	}
	return k, err
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
	ar, err := untrusted.NewArReader(in)
	if err != nil {
		return fmt.Errorf("not a .deb: %w", err)
	}
	for {
		member, err := ar.Next()
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
	data, err := untrusted.Decompressor(in)
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
	_, err := io.Copy(io.Discard, io.LimitReader(in, untrusted.MaxArchive))
	return err
}
