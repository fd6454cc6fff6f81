package kernel

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the sums
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// releases is the URL of the releases of this tool.
const releases = "https://github.com/org/ebpf-bench-action/releases/download"

// committedPacks lists the packed kernels that the release of this tool ships, with their
// checksums. It is part of the source, so the files that it names cannot change.
//
//go:embed PACKS
var committedPacks string

// packs are packed kernels of a release.
type packs struct {
	tag string
	all []releasedPack
}

// releasedPack is the packed kernel of a series.
type releasedPack struct {
	series, arch, name string
	sum                untrusted.Checksum
}

var (
	packsTag  = regexp.MustCompile(`^# Packed kernels of (v[0-9][0-9A-Za-z.-]*): `)
	packsLine = regexp.MustCompile(`^([0-9a-f]{64}) ([1-9][0-9]{0,9}) (linux-([0-9]+\.[0-9]+)-([0-9a-z]+)\.tar\.zst)$`)
)

// parsePacks reads lines of SHA-256, size and name, below one that names the release.
// There are none if that names no release.
func parsePacks(text string) (*packs, error) {
	var p packs
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			if m := packsTag.FindStringSubmatch(line); m != nil {
				p.tag = m[1]
			}
			continue
		}
		m := packsLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("packed kernels: %q is not of the form SHA-256 SIZE NAME", line)
		}
		size, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("packed kernels: %w", err)
		}
		p.all = append(p.all, releasedPack{series: m[4], arch: m[5], name: m[3], sum: untrusted.Checksum{SHA256: m[1], Size: size}})
	}
	if p.tag == "" && len(p.all) > 0 {
		return nil, errors.New("packed kernels: no release is given")
	}
	return &p, nil
}

// of returns the pack of a version for this architecture.
func (p *packs) of(version string) (releasedPack, bool) {
	i := slices.IndexFunc(p.all, func(r releasedPack) bool { return r.arch == runtime.GOARCH && uname.Begins(version, r.series) })
	if i < 0 {
		return releasedPack{}, false
	}
	return p.all[i], true
}

// series returns the series that have a pack for this architecture.
func (p *packs) series() (all []string) {
	for _, r := range p.all {
		if r.arch == runtime.GOARCH {
			all = append(all, r.series)
		}
	}
	return all
}

// released loads the packed kernel of a version from the release of this tool, for
// machines without a mirror of Debian. noMirror is the error that says so.
func (s Source) released(ctx context.Context, version string, noMirror error) (*Kernel, error) {
	p, err := parsePacks(cmp.Or(s.packs, committedPacks))
	if err != nil {
		return nil, err
	}
	pack, ok := p.of(version)
	if !ok {
		return nil, bench.WithHint(noMirror, p.hint())
	}
	url := cmp.Or(s.Releases, releases) + "/" + p.tag + "/" + pack.name
	shown := fetch.Start(s.Progress, pack.name, pack.sum.Size)
	defer shown.End()
	data, err := fetch.Verified(ctx, url, pack.sum, shown.Have)
	if err != nil {
		return nil, fmt.Errorf("%w, and the packed one of the release cannot be downloaded: %w", noMirror, err)
	}
	k, err := unpack(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if !uname.Begins(k.Release, version) {
		return nil, bench.WithHint(
			fmt.Errorf("%w, and the release %s of this tool has Linux %s, not %s", noMirror, p.tag, k.Release, version),
			"name the series, "+pack.series+", or add the kernel from .deb files or an OCI image")
	}
	return k, nil
}

// hint says what to do without a mirror.
func (p *packs) hint() string {
	all := p.series()
	if len(all) == 0 {
		return "Name a mirror in /etc/apt/sources.list.d/debian.sources, run in a container of Debian, such as debian:trixie, or add kernels from .deb files, an OCI image or a packed one (ebpf-bench kernel pack, where there is a mirror). A release of ebpf-bench brings packed kernels."
	}
	return "Without a mirror there are the packed kernels of the release: " + strings.Join(all, ", ") + ". Name a mirror in /etc/apt/sources.list.d/debian.sources, run in a container of Debian, such as debian:trixie, or add kernels from .deb files or an OCI image."
}
