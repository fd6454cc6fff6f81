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
}

// Fetch is the suite's kernel.
func (d Debian) Fetch(ctx context.Context) (*Kernel, error) {
	k, err := d.withDefaults().fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("get kernel of Debian %s: %w", d.Suite, err)
	}
	return k, nil
}

func (d Debian) withDefaults() Debian {
	if d.Arch == "" {
		d.Arch = runtime.GOARCH
	}
	if d.Root == nil {
		d.Root = os.DirFS("/")
	}
	if d.Client == nil {
		d.Client = http.DefaultClient
	}
	return d
}

func (d Debian) fetch(ctx context.Context) (*Kernel, error) {
	r, err := d.openRepository(ctx)
	if err != nil {
		return nil, err
	}
	flavour := "cloud-" + d.Arch
	index, err := r.packages(ctx, d.Arch, flavour)
	if err != nil {
		return nil, err
	}
	packages, err := index.kernel(flavour, d.Version)
	if err != nil {
		return nil, err
	}
	files := newUnpacked()
	for _, p := range packages {
		deb, err := fetchSum(ctx, r.client, r.uri+"/"+p.file, p.sum)
		if err != nil {
			return nil, err
		}
		if err := files.addDeb(bytes.NewReader(deb)); err != nil {
			return nil, fmt.Errorf("read %s: %w", path.Base(p.file), err)
		}
	}
	k, err := files.tree().load("")
	if err != nil {
		return nil, fmt.Errorf("find the kernel in package %s: %w", packages[0].name, err)
	}
	k.Origin = fmt.Sprintf("Debian %s, %s %s", d.Suite, packages[0].name, packages[0].version)
	return k, nil
}

// repository is a suite at one mirror, its release file verified.
type repository struct {
	*release
	uri, suite string
	client     *http.Client
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
	data, err := fetch(ctx, d.Client, url, maxText)
	if err != nil {
		return nil, err
	}
	rel, err := openRelease(data, keys, d.Suite, time.Now())
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", url, err)
	}
	return &repository{rel, m.uri, d.Suite, d.Client}, nil
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
		file = path.Dir(name) + "/by-hash/SHA256/" + sum.sha256
	}
	packed, err := fetchSum(ctx, r.client, strings.Join([]string{r.uri, "dists", r.suite, file}, "/"), sum)
	if err != nil {
		return nil, err
	}
	index, err := readIndex(packed, flavour)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", name, r.suite, err)
	}
	return index, nil
}
