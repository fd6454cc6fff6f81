package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/kernel/pack"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
)

// Entry is a kernel in a cache.
type Entry struct {
	Release string `json:"release"`
	Arch    string `json:"arch"`
	// Digest is the SHA-256 of the packed kernel, in hex.
	Digest string `json:"digest"`
	// Origin says in words where the kernel comes from, if that is known.
	Origin string `json:"origin"`
	// Path is the path of the packed kernel.
	Path string `json:"path"`
	// Size is the disk space of the kernel, in bytes.
	Size  int64     `json:"size"`
	Added time.Time `json:"added"`
}

// An entry is two files: the packed kernel and, unpacked beside it, the image
// to boot.
//
//	RELEASE_ARCH_DIGEST.tar.zst
//	RELEASE_ARCH_DIGEST.image
const (
	packEnding  = ".tar.zst"
	imageEnding = ".image"
)

var entryForm = regexp.MustCompile(`^(.+)_([0-9a-z]+)_([0-9a-f]{64})\.tar\.zst$`)

// entryOf returns the entry whose packed kernel is that file.
func entryOf(dir string, file fs.DirEntry) (Entry, bool) {
	m := entryForm.FindStringSubmatch(file.Name())
	if m == nil {
		return Entry{}, false
	}
	if _, err := uname.Check(m[1]); err != nil {
		return Entry{}, false
	}
	st, err := file.Info()
	if err != nil {
		return Entry{}, false // removed in the meantime
	}
	return Entry{
		Release: m[1], Arch: m[2], Digest: m[3],
		Path: filepath.Join(dir, file.Name()), Size: st.Size(), Added: st.ModTime(),
	}, true
}

func entryName(release, arch, digest string) string {
	return release + "_" + arch + "_" + digest + packEnding
}

// imagePath returns the path of the unpacked image.
func (e Entry) imagePath() string { return strings.TrimSuffix(e.Path, packEnding) + imageEnding }

// readOrigin reads where the kernel comes from. It returns an empty string if it cannot;
// booting the kernel reports why.
func (e Entry) readOrigin() string {
	f, err := os.Open(e.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	p, err := pack.Open(f)
	if err != nil {
		return ""
	}
	defer p.Close()
	return p.Origin
}

// remove removes both files. Another process may have done so already.
func (e Entry) remove() error {
	for _, file := range []string{e.Path, e.imagePath()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove kernel %s: %w", e.Release, err)
		}
	}
	return nil
}

// goesBy reports whether a name stands for the entry: its release or a whole beginning of
// it, such as 6.12, or its digest or a beginning of that. A beginning of a release stands
// for kernels of this machine's architecture.
func (e Entry) goesBy(name string) bool {
	const minDigest = 8
	return e.Release == name ||
		e.Arch == runtime.GOARCH && uname.Begins(e.Release, name) ||
		len(name) >= minDigest && strings.HasPrefix(e.Digest, name)
}
