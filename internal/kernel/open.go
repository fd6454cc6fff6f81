package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/pack"
)

// Get returns the kernel with a name: the newest whose release is the name or begins with
// it, or the one with that digest. The error is ErrNotCached if there is none.
func (c *Cache) Get(name string) (*Kernel, error) {
	found, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return c.open(found[len(found)-1])
}

// open checks an entry and makes it ready to boot. The error is a damagedError if the
// packed kernel is damaged; a missing or damaged image is unpacked again.
func (c *Cache) open(e Entry) (*Kernel, error) {
	packed, err := os.ReadFile(e.Path)
	if err != nil {
		return nil, fmt.Errorf("read cached kernel: %w", err)
	}
	// The image is by far the largest file, so it is read concurrently with the rest.
	sum := make(chan string, 1)
	go func() { sum <- digestOf(e.imagePath()) }()

	if digest := sha256.Sum256(packed); hex.EncodeToString(digest[:]) != e.Digest {
		return nil, bench.WithHint(
			&damagedError{e},
			"remove it by `ebpf-bench kernel rm "+e.Digest[:12]+"`, and add the kernel again")
	}
	p, err := pack.Open(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", e.Path, err)
	}
	defer p.Close()
	k, err := readPack(p)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", e.Path, err)
	}
	if <-sum != p.ImageFile().SHA256 {
		image, err := p.Next()
		if err == nil {
			err = c.write(e.imagePath(), image)
		}
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", e.Path, err)
		}
	}
	k.Digest = e.Digest
	k.bootFile = e.imagePath()
	k.image = imageFile{p.ImageFormat(), func() ([]byte, error) { return os.ReadFile(e.imagePath()) }}
	return k, nil
}

// digestOf returns the SHA-256 of a file, or an empty string if it cannot be read to the
// end.
func digestOf(name string) string {
	// Opening something that is not a file may block, and reading it may never end.
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// damagedError says that a packed kernel in a cache no longer matches its digest.
type damagedError struct{ Entry Entry }

func (e *damagedError) Error() string {
	return fmt.Sprintf("cached kernel %s is damaged: SHA-256 of %s is another", e.Entry.Release, e.Entry.Path)
}
