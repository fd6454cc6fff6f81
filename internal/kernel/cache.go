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

// Cache keeps packed kernels in a folder, ready to boot. Files appear in it whole and
// under a name with their digest, so several processes may use it concurrently.
type Cache struct {
	// Progress shows downloads, unless it is nil.
	Progress fetch.Progress
	// Releases is where the releases of this tool are, if not at the usual place. OpenCache
	// sets it to the value of ReleasesVariable.
	Releases string

	dir string
	// source loads the kernels that the cache lacks.
	source func(ctx context.Context, words ...string) (*Kernel, error)
}

// ErrNotCached says that a cache has no kernel with a name.
var ErrNotCached = errors.New("no such kernel in the cache")

// DefaultCacheDir returns the user's folder for cached kernels.
func DefaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", bench.WithHint(fmt.Errorf("find the cache: %w", err), "set XDG_CACHE_HOME")
	}
	return filepath.Join(dir, "ebpf-bench", "kernels"), nil
}

// ReleasesVariable is the environment variable that names a mirror of this tool's
// releases.
const ReleasesVariable = "EBPF_BENCH_RELEASES"

// OpenCache opens the cache in a folder, and makes the folder if needed. An empty dir means
// DefaultCacheDir.
func OpenCache(dir string) (*Cache, error) {
	if dir == "" {
		var err error
		if dir, err = DefaultCacheDir(); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open kernel cache: %w", err)
	}
	c := &Cache{dir: dir, Releases: os.Getenv(ReleasesVariable)}
	c.source = func(ctx context.Context, words ...string) (*Kernel, error) {
		return Source{Progress: c.Progress, Releases: c.Releases}.Load(ctx, words...)
	}
	return c, nil
}

// Add packs a kernel into the cache, with the extra modules. It writes the same kernel
// again, so that it replaces a damaged one.
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
	// The image goes first: an entry exists once its packed kernel does.
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

// unfinished matches the names of locks, and of files before they appear.
var unfinished = regexp.MustCompile(`^\.(lock-[0-9a-f]{64}|.+_[0-9a-z]+_[0-9a-f]{64}\.(tar\.zst|image)\d+)$`)

// sweep removes files of processes that were killed while they wrote.
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

// List returns the kernels of the cache, the newest release last; among equal releases,
// the one that was added last comes last.
func (c *Cache) List() ([]Entry, error) {
	all, err := c.entries()
	for i := range all {
		all[i].Origin = all[i].readOrigin()
	}
	return all, err
}

// entries returns the entries without the fields that are only in the packed kernels.
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

// find returns the entries that a name stands for, at least one. The error is ErrNotCached
// if there is none, and ErrUnknown for a name that is not allowed.
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
		return nil, bench.WithHint(fmt.Errorf("find kernel %s: %w", name, ErrNotCached), "`ebpf-bench kernel list` prints those that there are")
	}
	return found, nil
}

// Path returns the path of the packed kernel with a name.
func (c *Cache) Path(name string) (string, error) {
	found, err := c.find(name)
	if err != nil {
		return "", err
	}
	return found[len(found)-1].Path, nil
}

// Release returns the release of the kernel with a name, empty if there is none.
func (c *Cache) Release(name string) string {
	found, err := c.find(name)
	if err != nil {
		return ""
	}
	return found[len(found)-1].Release
}

// Remove removes every kernel that a name stands for, and returns the removed ones.
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
