package debian

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// debPackage is the entry of a package in an index.
type debPackage struct {
	name, version string
	file          string
	sum           untrusted.Checksum
	// depends are the names of packages, the first of each alternative.
	depends []string
}

// packageIndex is the kernels of a suite, by package name.
type packageIndex map[string]debPackage

const imagePrefix = "linux-image-"

// parsePackages reads the flavour's kernels from an index.
func parsePackages(in io.Reader, flavour string) (packageIndex, error) {
	index := packageIndex{}
	for text, err := range stanzas(in) {
		if err != nil {
			return nil, err
		}
		// Parse few of the tens of thousands of packages.
		if !bytes.HasPrefix(text, []byte("Package: linux-")) {
			continue
		}
		s, err := parseStanza(text)
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(s["package"], "-"+flavour) {
			continue
		}
		p, err := newPackage(s)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", s["package"], err)
		}
		if old, ok := index[p.name]; !ok || uname.Compare(old.version, p.version) < 0 {
			index[p.name] = p
		}
	}
	return index, nil
}

func newPackage(s stanza) (p debPackage, err error) {
	p = debPackage{name: s["package"], version: s["version"], file: s["filename"]}
	if p.file, err = untrusted.LocalName(p.file); err != nil {
		return p, err
	}
	if p.sum, err = untrusted.ParseChecksum(s["sha256"], s["size"]); err != nil {
		return p, err
	}
	for alternatives := range strings.SplitSeq(s["depends"], ",") {
		if words := strings.Fields(alternatives); len(words) > 0 {
			p.depends = append(p.depends, words[0])
		}
	}
	return p, nil
}

// kernel returns the packages of a kernel. Without a version it is the one that the
// flavour's meta package depends on, else the newest of that version.
func (x packageIndex) kernel(flavour, version string) ([]debPackage, error) {
	for _, name := range x[imagePrefix+flavour].depends {
		release, ok := strings.CutPrefix(name, imagePrefix)
		if ok && (version == "" || uname.Begins(release, version)) {
			if all := x.parts(release); all != nil {
				return all, nil
			}
		}
	}
	if version == "" {
		return nil, fmt.Errorf("no package %s%s", imagePrefix, flavour)
	}
	releases := x.releases(flavour)
	for _, release := range slices.Backward(releases) {
		if uname.Begins(release, version) {
			return x.parts(release), nil
		}
	}
	return nil, newLacksError(version, flavour, releases)
}

// lacksError is an ErrLacks: a suite has no kernel of that version, only those series, and
// near lists the releases in the version's own series.
type lacksError struct {
	version string
	series  []string
	near    []string
}

func newLacksError(version, flavour string, releases []string) error {
	e := &lacksError{version: version, series: uname.AllSeries(releases)}
	of := uname.Series(version)
	for _, release := range releases {
		if uname.Begins(release, of) {
			e.near = append(e.near, strings.TrimSuffix(release, "-"+flavour))
		}
	}
	if e.near == nil {
		return e
	}
	return bench.WithHint(e, fmt.Sprintf("%s is the newest of its series; add %s from .deb files or an OCI image", of, version))
}

func (e *lacksError) Error() string {
	return fmt.Sprintf("no kernel %s, only %s", e.version, e.instead())
}

// instead returns what the suite has.
func (e *lacksError) instead() string {
	if e.near != nil {
		return strings.Join(e.near, ", ")
	}
	return listOr(e.series, "none")
}

func (*lacksError) Is(target error) bool { return target == ErrLacks }

func sizeOf(all []debPackage) (size int64) {
	for _, p := range all {
		size += p.sum.Size
	}
	return size
}

// parts returns the packages that a kernel is split over, the one with the image first. It
// returns nil unless the suite has all of them: a suite keeps the image of a superseded
// kernel for longer than its modules.
func (x packageIndex) parts(release string) []debPackage {
	image, ok := x[imagePrefix+release]
	if !ok {
		return nil
	}
	all := []debPackage{image}
	for _, name := range image.depends {
		if !strings.HasSuffix(name, "-"+release) {
			continue
		}
		part, ok := x[name]
		if !ok {
			return nil
		}
		all = append(all, part)
	}
	return all
}

// releases returns the releases of the index's kernels, the newest last.
func (x packageIndex) releases(flavour string) (releases []string) {
	for name := range x {
		release, ok := strings.CutPrefix(name, imagePrefix)
		if ok && release != flavour && uname.IsVersion(release) && x.parts(release) != nil {
			releases = append(releases, release)
		}
	}
	slices.SortFunc(releases, uname.Compare)
	return releases
}

func listOr(words []string, none string) string {
	if len(words) == 0 {
		return none
	}
	return strings.Join(words, ", ")
}

// maxPackages is the largest index that is read, in bytes.
const maxPackages = 512 << 20

// readIndex reads a compressed index.
func readIndex(packed []byte, flavour string) (packageIndex, error) {
	text, err := untrusted.Decompressor(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer text.Close()
	return parsePackages(io.LimitReader(text, maxPackages), flavour)
}
