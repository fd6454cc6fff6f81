package tree

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// AddDeb adds the kernel's files in a .deb.
func (u *Archive) AddDeb(in io.Reader) error {
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

func (u *Archive) addPackedTar(in io.Reader) error {
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

// addTarToEnd reads past the end of the tar archive, because the checksums that detect
// damage come after it.
func (u *Archive) addTarToEnd(in io.Reader) error {
	if err := u.AddTar(in); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, io.LimitReader(in, untrusted.MaxArchive))
	return err
}

// FindInDebs is Find for packages, and some may be missing.
func (u *Archive) FindInDebs() (*Kernel, error) {
	t := u.tree()
	releases := t.moduleReleases()
	k, err := t.find("")
	var noImage noImageError
	switch {
	case errors.As(err, &noImage) && len(releases) > 0:
		return nil, bench.WithHint(err, fmt.Sprintf(
			"these are its modules alone: give them together with its image, the package linux-binary-%[1]s, or linux-image-%[1]s if no such one exists", releases[0]))
	case errors.As(err, &noImage):
		return nil, bench.WithHint(err, "Debian splits a kernel over packages: give linux-base-RELEASE, linux-binary-RELEASE and linux-modules-RELEASE together")
	case err == nil && len(releases) > 0 && !slices.Contains(releases, k.Release):
		return nil, bench.WithHint(
			fmt.Errorf("the image is Linux %s, the modules are for %s", k.Release, strings.Join(releases, ", ")),
			"give packages of one release together")
	}
	return k, err
}
