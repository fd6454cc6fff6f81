package kernel

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/google/renameio/v2"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/kernel/pack"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
)

// Cache keeps packed kernels in a folder, ready to boot. Files appear in it
// whole and under a name with their digest, so that several processes may use
// it at once.
type Cache struct {
	// Progress shows what is downloaded, unless it is nil.
	Progress fetch.Progress
	// Releases is where the releases of this tool are, if elsewhere.
	Releases string

	dir string
	// source is where kernels come from that the cache lacks.
	source func(ctx context.Context, words ...string) (*Kernel, error)
}

// ErrNotCached says that a cache has no kernel of a name.
var ErrNotCached = errors.New("no such kernel in the cache")

// DefaultCacheDir is the folder that belongs to the user.
func DefaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", bench.WithHint(fmt.Errorf("find the cache: %w", err), "Set XDG_CACHE_HOME.")
	}
	return filepath.Join(dir, "ebpf-bench", "kernels"), nil
}

// OpenCache makes the folder if there is none.
func OpenCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open kernel cache: %w", err)
	}
	c := &Cache{dir: dir}
	c.source = func(ctx context.Context, words ...string) (*Kernel, error) {
		return Source{Progress: c.Progress, Releases: c.Releases}.Load(ctx, words...)
	}
	return c, nil
}

// Add packs a kernel into the cache, with the extra modules. The same kernel
// is written anew, and takes the place of one that was damaged.
func (c *Cache) Add(k *Kernel, extra ...string) (Entry, error) {
	p, err := newPack(k, extra)
	if err != nil {
		return Entry{}, fmt.Errorf("pack kernel %s: %w", k.Release, err)
	}
	e, err := c.add(p)
	if err != nil {
		return Entry{}, fmt.Errorf("add kernel %s to the cache: %w", k.Release, err)
	}
	return e, nil
}

func (c *Cache) add(p *pack.Pack) (Entry, error) {
	var packed bytes.Buffer
	if err := p.Write(&packed); err != nil {
		return Entry{}, err
	}
	sum := sha256.Sum256(packed.Bytes())
	digest := hex.EncodeToString(sum[:])
	file := filepath.Join(c.dir, entryName(p.Release, p.Arch, digest))
	e := Entry{Release: p.Release, Arch: p.Arch, Digest: digest, Origin: p.Origin, Path: file}
	c.sweep()
	// The image goes first: an entry is there once its packed kernel is.
	if err := c.write(e.imagePath(), p.ImageData()); err != nil {
		return Entry{}, err
	}
	if err := c.write(e.Path, packed.Bytes()); err != nil {
		return Entry{}, err
	}
	return c.stat(e)
}

// write makes a file appear whole.
func (c *Cache) write(name string, data []byte) error {
	return renameio.WriteFile(name, data, 0o644, renameio.WithTempDir(c.dir))
}

// unfinished are the names of locks, and of files before they appear.
var unfinished = regexp.MustCompile(`^\.(lock-[0-9a-f]{64}|.+_[0-9a-z]+_[0-9a-f]{64}\.(tar\.zst|image)\d+)$`)

// sweep removes what processes left behind that were killed while they wrote.
func (c *Cache) sweep() {
	const abandoned = time.Hour
	files, _ := os.ReadDir(c.dir)
	for _, file := range files {
		if !unfinished.MatchString(file.Name()) {
			continue
		}
		if st, err := file.Info(); err == nil && time.Since(st.ModTime()) > abandoned {
			os.Remove(filepath.Join(c.dir, file.Name()))
		}
	}
}

func (c *Cache) stat(e Entry) (Entry, error) {
	for _, name := range []string{e.imagePath(), e.Path} {
		st, err := os.Stat(name)
		if err != nil {
			return Entry{}, err
		}
		e.Size += st.Size()
		e.Added = st.ModTime()
	}
	return e, nil
}

// List is the cache's kernels, the newest release last; of one release, the
// one that was added last.
func (c *Cache) List() ([]Entry, error) {
	all, err := c.entries()
	for i := range all {
		all[i].Origin = all[i].readOrigin()
	}
	return all, err
}

// entries is List without what is only to be read in the packed kernels.
func (c *Cache) entries() ([]Entry, error) {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("list kernel cache: %w", err)
	}
	var all []Entry
	for _, file := range files {
		e, ok := entryOf(c.dir, file)
		if !ok {
			continue
		}
		if st, err := os.Stat(e.imagePath()); err == nil {
			e.Size += st.Size()
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(uname.Compare(a.Release, b.Release), a.Added.Compare(b.Added))
	})
	return all, nil
}

// find is the entries that go by a name, at least one. It is ErrNotCached if
// there is none, and ErrUnknown for what must not be a name.
func (c *Cache) find(name string) ([]Entry, error) {
	all, err := c.entries()
	if err != nil {
		return nil, err
	}
	var releases []string
	for _, e := range all {
		releases = append(releases, e.Release)
	}
	if err := checkMajor(name, releases); err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all, func(e Entry) bool { return !e.goesBy(name) })
	if len(found) == 0 {
		return nil, bench.WithHint(fmt.Errorf("find kernel %s: %w", name, ErrNotCached), "`ebpf-bench kernel list` prints those that there are.")
	}
	return found, nil
}

// Path is the packed kernel of that name.
func (c *Cache) Path(name string) (string, error) {
	found, err := c.find(name)
	if err != nil {
		return "", err
	}
	return found[len(found)-1].Path, nil
}

// Release is that of the kernel of that name, empty if there is none.
func (c *Cache) Release(name string) string {
	found, err := c.find(name)
	if err != nil {
		return ""
	}
	return found[len(found)-1].Release
}

// Remove removes every kernel that goes by the name, and says which.
func (c *Cache) Remove(name string) ([]Entry, error) {
	found, err := c.find(name)
	if err != nil {
		return nil, err
	}
	for i, e := range found {
		if err := e.remove(); err != nil {
			return found[:i], err
		}
	}
	return found, nil
}
