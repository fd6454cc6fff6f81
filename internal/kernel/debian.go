package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/debian"
	"github.com/org/ebpf-bench-action/internal/kernel/tree"
)

// suite loads the kernel that a suite of Debian installs.
func (s Source) suite(ctx context.Context, name string) (*Kernel, error) {
	found, err := s.archive().Find(ctx, name)
	return ofDebian(ctx, found, err)
}

// version loads the newest kernel of a version, such as 6.12, from the suite of Debian
// that has it, or from the release if no mirror of Debian is known.
func (s Source) version(ctx context.Context, version string) (*Kernel, error) {
	found, err := s.archive().FindVersion(ctx, version)
	var k *Kernel
	if errors.Is(err, debian.ErrNoMirror) {
		k, err = s.released(ctx, version, err)
	} else {
		k, err = ofDebian(ctx, found, err)
	}
	if err != nil && ctx.Err() == nil && bench.Hint(err) == "" && !errors.Is(err, ErrUnknown) {
		err = bench.WithHint(err, otherWays)
	}
	return k, err
}

// otherWays are the ways to a kernel where the download of a version fails.
const otherWays = "name a mirror that works in /etc/apt/sources.list.d/debian.sources, add a kernel from files (ebpf-bench kernel add: .deb files, a packed kernel, an OCI image), or use this machine's own (--kernel host)"

// archive returns Debian's archive, which reports its downloads.
func (s Source) archive() debian.Archive {
	a := s.apt
	a.Progress = s.Progress
	return a
}

// ofDebian fetches the kernel that was found. The error is ErrUnknown if Debian lacks it.
func ofDebian(ctx context.Context, found *debian.Kernel, err error) (*Kernel, error) {
	if errors.Is(err, debian.ErrLacks) {
		err = noKernel(err)
	}
	if err != nil {
		return nil, err
	}
	files := tree.NewArchive()
	if err := found.Fetch(ctx, files.AddDeb); err != nil {
		return nil, err
	}
	k, err := ofTree(files.Find())
	if err != nil {
		return nil, fmt.Errorf("get kernel of Debian %s: find the kernel in package %s: %w", found.Suite, found.Package, err)
	}
	k.Origin = found.Origin()
	return k, nil
}
