package pack

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Pack is a packed kernel before it is written.
type Pack struct {
	Manifest
	content [][]byte // in the order of the manifest's files
}

// New returns a pack without files.
func New(release, arch, origin string, builtin []string) *Pack {
	return &Pack{Manifest: Manifest{Format: manifestFormat, Release: release, Arch: arch, Origin: origin, Builtin: builtin}}
}

// Add adds a file; the image comes last.
func (p *Pack) Add(name string, data []byte) {
	sum := sha256.Sum256(data)
	p.Files = append(p.Files, File{name, int64(len(data)), hex.EncodeToString(sum[:])})
	p.content = append(p.content, data)
}

// ImageData returns the content of the image.
func (p *Pack) ImageData() []byte { return p.content[len(p.content)-1] }

// Write writes the pack. The same files give the same bytes.
func (p *Pack) Write(w io.Writer) error {
	// With more goroutines, the blocks would be split elsewhere.
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	list, err := p.marshal()
	if err != nil {
		return err
	}
	if err := writeMember(t, manifestName, list); err != nil {
		return err
	}
	for i, f := range p.Files {
		if err := writeMember(t, f.Name, p.content[i]); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// writeMember writes a file without owner or time.
func writeMember(t *tar.Writer, name string, data []byte) error {
	header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Format: tar.FormatUSTAR}
	if err := t.WriteHeader(header); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}
