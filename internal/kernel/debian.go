package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Debian is a suite of Debian to fetch a kernel from, through the mirror that
// the machine's apt is configured for. Nothing is used that does not lead back
// to a signature by the keys which that configuration trusts.
//
// Of Debian's flavours it is the one for clouds: the smallest, and built for
// virtual machines.
type Debian struct {
	// Suite is its code name, such as "trixie-backports".
	Suite string
	// Version chooses the newest kernel of a series such as "7.1". Without
	// it, the kernel is the one that the suite installs.
	Version string
	// Arch is the kernel's architecture, this machine's if empty.
	Arch string

	// Root is where etc/apt and the keyrings are, if not in this machine's
	// root directory.
	Root fs.FS
	// Client speaks to the mirror. Without one, the environment's proxies are
	// used.
	Client *http.Client
	// Progress shows what is downloaded, unless it is nil.
	Progress Progress
}

// Fetch is the suite's kernel.
func (d Debian) Fetch(ctx context.Context) (*Kernel, error) {
	k, err := d.withDefaults().fetch(ctx)
	return k, d.explain(err)
}

// explain says which suite an error is about.
func (d Debian) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("get kernel of Debian %s: %w", d.Suite, err)
}

func (d Debian) withDefaults() Debian {
	if d.Arch == "" {
		d.Arch = runtime.GOARCH
	}
	if d.Root == nil {
		d.Root = os.DirFS("/")
	}
	if d.Client == nil {
		d.Client = client
	}
	return d
}

func (d Debian) fetch(ctx context.Context) (*Kernel, error) {
	found, err := d.find(ctx)
	if err != nil {
		return nil, err
	}
	return d.get(ctx, found)
}

// found is a kernel that a suite has: its packages, that of the image first.
type found struct {
	*repository
	all []debPackage
}

// find looks in the suite's index for the kernel. It is a lacksError if the
// suite does not have it.
func (d Debian) find(ctx context.Context) (*found, error) {
	r, err := d.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	flavour := "cloud-" + d.Arch
	index, err := r.packages(ctx, d.Arch, flavour)
	if err != nil {
		return nil, err
	}
	all, err := index.kernel(flavour, d.Version)
	return &found{r, all}, err
}

// get downloads the kernel that was found.
func (d Debian) get(ctx context.Context, f *found) (*Kernel, error) {
	image := f.all[0]
	shown := start(d.Progress, image.name, sizeOf(f.all))
	defer shown.End()
	files := newUnpacked()
	before := int64(0)
	for _, p := range f.all {
		deb, err := fetchSum(ctx, f.client, f.uri+"/"+p.file, p.sum, func(n int64) { shown.Have(before + n) })
		if err != nil {
			return nil, err
		}
		if err := files.addDeb(bytes.NewReader(deb)); err != nil {
			return nil, fmt.Errorf("read %s: %w", path.Base(p.file), err)
		}
		before += p.sum.Size
	}
	k, err := files.tree().load("")
	if err != nil {
		return nil, fmt.Errorf("find the kernel in package %s: %w", image.name, err)
	}
	k.Origin = fmt.Sprintf("Debian %s, %s %s", d.Suite, image.name, image.version)
	return k, nil
}

// repository is a suite at one mirror, its release file verified.
type repository struct {
	*release
	uri, suite string
	client     *http.Client
	progress   Progress
}

// openRepository is the suite at the first mirror that has it.
func (d Debian) openRepository(ctx context.Context) (*repository, error) {
	mirrors, err := debianMirrors(d.Root, d.Suite)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, m := range mirrors {
		r, err := d.openMirror(ctx, m)
		if err == nil {
			return r, nil
		}
		errs = append(errs, err)
	}
	err = errors.Join(errs...)
	if errors.Is(err, statusError(http.StatusNotFound)) {
		err = bench.WithHint(err, "The mirror has no such suite, or no longer: add the kernel from .deb files or an OCI image.")
	}
	return nil, err
}

func (d Debian) openMirror(ctx context.Context, m mirror) (*repository, error) {
	keys, err := readKeyring(d.Root, m.signedBy)
	if err != nil {
		return nil, err
	}
	url := m.uri + "/dists/" + d.Suite + "/InRelease"
	data, err := fetch(ctx, d.Client, url, untrusted.MaxText, unseen{}.Have)
	if err != nil {
		return nil, err
	}
	rel, err := openRelease(data, keys, d.Suite, time.Now())
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", url, err)
	}
	return &repository{rel, m.uri, d.Suite, d.Client, d.Progress}, nil
}

// packages is the index of the suite's kernels.
func (r *repository) packages(ctx context.Context, arch, flavour string) (packageIndex, error) {
	name := "main/binary-" + arch + "/Packages.xz"
	sum, ok := r.sums[name]
	if !ok {
		return nil, fmt.Errorf("suite has no %s", name)
	}
	file := name
	if r.byHash {
		// By this name it stays what it is while the mirror is updated.
		file = path.Dir(name) + "/by-hash/SHA256/" + sum.SHA256
	}
	shown := start(r.progress, "the index of Debian "+r.suite, sum.Size)
	defer shown.End()
	packed, err := fetchSum(ctx, r.client, strings.Join([]string{r.uri, "dists", r.suite, file}, "/"), sum, shown.Have)
	if err != nil {
		return nil, err
	}
	index, err := readIndex(packed, flavour)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", name, r.suite, err)
	}
	return index, nil
}
