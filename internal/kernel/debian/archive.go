// Package debian finds the packages of kernels in Debian's archive, through the mirror
// that this machine's apt is configured for. It uses only files that lead back to a
// signature by a key which that configuration trusts.
//
// Of Debian's flavours it uses the one for clouds: the smallest, built for virtual
// machines.
package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Archive is Debian's archive. The zero value is the one that this machine's apt is
// configured for.
type Archive struct {
	// Arch is the architecture of the kernels, this machine's if empty.
	Arch string
	// Root has etc/apt and the keyrings; this machine's root directory if nil.
	Root fs.FS
	// Progress shows downloads, unless it is nil.
	Progress fetch.Progress
}

// Kernel is a kernel that a suite has, in one or more packages.
type Kernel struct {
	// Package is the name of the package with the image.
	Package string

	*repository
	all []debPackage // the one with the image first
}

// Origin says in words where the kernel comes from.
func (k *Kernel) Origin() string {
	return fmt.Sprintf("Debian %s, %s %s", k.Suite, k.Package, k.all[0].version)
}

// Find finds the kernel that a suite installs.
func (a Archive) Find(ctx context.Context, suite string) (*Kernel, error) {
	return a.findVersion(ctx, suite, "")
}

// findVersion finds the newest kernel of a version in a suite, or the one that the suite
// installs if version is empty.
func (a Archive) findVersion(ctx context.Context, suite, version string) (*Kernel, error) {
	k, err := a.find(ctx, suite, version)
	return k, ofSuite(suite, err)
}

// ofSuite adds the suite to an error.
func ofSuite(suite string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("get kernel of Debian %s: %w", suite, err)
}

// find looks for the kernel in the suite's index. The error is a lacksError if the suite
// does not have it.
func (a Archive) find(ctx context.Context, suite, version string) (*Kernel, error) {
	if a.Arch == "" {
		a.Arch = runtime.GOARCH
	}
	r, err := a.open(ctx, suite)
	if err != nil {
		return nil, err
	}
	flavour := "cloud-" + a.Arch
	index, err := r.packages(ctx, a.Arch, flavour)
	if err != nil {
		return nil, err
	}
	all, err := index.kernel(flavour, version)
	if err != nil {
		return nil, err
	}
	return &Kernel{all[0].name, r, all}, nil
}

// Fetch downloads the kernel, and calls keep with each of its packages.
func (k *Kernel) Fetch(ctx context.Context, keep func(deb io.Reader) error) error {
	return ofSuite(k.Suite, k.fetch(ctx, keep))
}

func (k *Kernel) fetch(ctx context.Context, keep func(deb io.Reader) error) error {
	shown := fetch.Start(k.progress, k.Package, sizeOf(k.all))
	defer shown.End()
	before := int64(0)
	for _, p := range k.all {
		deb, err := fetch.Verified(ctx, k.uri+"/"+p.file, p.sum, func(n int64) { shown.Have(before + n) })
		if err != nil {
			return err
		}
		if err := keep(bytes.NewReader(deb)); err != nil {
			return fmt.Errorf("read %s: %w", path.Base(p.file), err)
		}
		before += p.sum.Size
	}
	return nil
}

// repository is a suite at one mirror, its release file verified.
type repository struct {
	*release
	// Suite is the name of the suite, such as "trixie-backports".
	Suite    string
	uri      string
	progress fetch.Progress
}

// open opens the suite at the first mirror that has it.
func (a Archive) open(ctx context.Context, suite string) (*repository, error) {
	root := a.Root
	if root == nil {
		root = os.DirFS("/")
	}
	mirrors, err := debianMirrors(root, suite)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, m := range mirrors {
		r, err := m.open(ctx, root, suite)
		if err == nil {
			r.progress = a.Progress
			return r, nil
		}
		errs = append(errs, err)
	}
	err = errors.Join(errs...)
	if fetch.IsMissing(err) {
		err = bench.WithHint(err, "the mirror has no such suite, or no longer: add the kernel from .deb files or an OCI image")
	}
	return nil, err
}

// open opens the suite at the mirror.
func (m mirror) open(ctx context.Context, root fs.FS, suite string) (*repository, error) {
	keys, err := readKeyring(root, m.signedBy)
	if err != nil {
		return nil, err
	}
	url := m.uri + "/dists/" + suite + "/InRelease"
	data, err := fetch.Get(ctx, url, untrusted.MaxText, nil)
	if err != nil {
		return nil, err
	}
	rel, err := openRelease(data, keys, suite, time.Now())
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", url, err)
	}
	return &repository{release: rel, uri: m.uri, Suite: suite}, nil
}

// packages returns the index of the suite's kernels.
func (r *repository) packages(ctx context.Context, arch, flavour string) (packageIndex, error) {
	name := "main/binary-" + arch + "/Packages.xz"
	sum, ok := r.sums[name]
	if !ok {
		return nil, fmt.Errorf("suite has no %s", name)
	}
	file := name
	if r.byHash {
		// The file with this name stays the same while the mirror is updated.
		file = path.Dir(name) + "/by-hash/SHA256/" + sum.SHA256
	}
	shown := fetch.Start(r.progress, "the index of Debian "+r.Suite, sum.Size)
	defer shown.End()
	packed, err := fetch.Verified(ctx, strings.Join([]string{r.uri, "dists", r.Suite, file}, "/"), sum, shown.Have)
	if err != nil {
		return nil, err
	}
	index, err := readIndex(packed, flavour)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", name, r.Suite, err)
	}
	return index, nil
}
