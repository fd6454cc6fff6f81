package pack

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Reader reads the files of a pack one after the other, in the manifest's order.
type Reader struct {
	*Manifest
	zstd *zstd.Decoder
	tar  *tar.Reader
	read int
}

// Open reads the manifest of a pack.
func Open(r io.Reader) (*Reader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(untrusted.MaxWindow))
	if err != nil {
		return nil, err
	}
	p := &Reader{zstd: z, tar: tar.NewReader(z)}
	if err := p.readManifest(); err != nil {
		z.Close()
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return p, nil
}

// Close frees the memory of the decoder.
func (p *Reader) Close() { p.zstd.Close() }

func (p *Reader) readManifest() error {
	data, err := p.member(manifestName, untrusted.MaxText)
	if err != nil {
		return err
	}
	p.Manifest, err = parseManifest(data)
	return err
}

// member reads the next file of the archive, which must have that name.
func (p *Reader) member(name string, limit int64) ([]byte, error) {
	header, err := p.tar.Next()
	if err != nil {
		return nil, untrusted.UnexpectedEOF(err)
	}
	if header.Name != name || header.Typeflag != tar.TypeReg {
		return nil, fmt.Errorf("has %q instead of %s", header.Name, name)
	}
	if header.Size > limit {
		return nil, untrusted.TooLargeError(limit)
	}
	return untrusted.ReadN(p.tar, header.Size)
}

// Next reads the next file of the manifest.
func (p *Reader) Next() ([]byte, error) {
	f := p.Files[p.read]
	data, err := p.member(f.Name, f.Size)
	if err == nil {
		err = untrusted.Checksum{SHA256: f.SHA256, Size: f.Size}.Check(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	p.read++
	return data, nil
}

// End returns an error if the pack has more files than the manifest lists.
func (p *Reader) End() error {
	header, err := p.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return fmt.Errorf("has %q, which the manifest lacks", header.Name)
	}
}
