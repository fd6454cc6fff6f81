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

// Get is the kernel of that name: the newest whose release is or begins with
// it, or the one of a digest. It is ErrNotCached if there is none.
func (c *Cache) Get(name string) (*Kernel, error) {
	found, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return c.open(found[len(found)-1])
}

// open checks an entry and makes it ready to boot. It is a damagedError for a
// packed kernel that is no longer what it was; an image that is missing or
// damaged is unpacked anew.
func (c *Cache) open(e Entry) (*Kernel, error) {
	packed, err := os.ReadFile(e.Path)
	if err != nil {
		return nil, fmt.Errorf("read cached kernel: %w", err)
	}
	// The image is by far the largest: it is read while the rest is.
	sum := make(chan string, 1)
	go func() { sum <- digestOf(e.imagePath()) }()

	if digest := sha256.Sum256(packed); hex.EncodeToString(digest[:]) != e.Digest {
		return nil, bench.WithHint(
			&damagedError{e},
			"Remove it by `ebpf-bench kernel rm "+e.Digest[:12]+"`, and add the kernel again.")
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

// digestOf is the SHA-256 of a file, or empty if it cannot be read, to the end.
func digestOf(name string) string {
	// To open what is not a file may wait, and to read it may never end.
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

// damagedError says that a packed kernel in a cache is no longer what its
// digest says.
type damagedError struct{ Entry Entry }

func (e *damagedError) Error() string {
	return fmt.Sprintf("cached kernel %s is damaged: SHA-256 of %s is another", e.Entry.Release, e.Entry.Path)
}
