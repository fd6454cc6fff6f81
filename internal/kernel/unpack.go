package kernel

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/org/ebpf-bench-action/internal/kernel/image"
	"github.com/org/ebpf-bench-action/internal/kernel/untrusted"
)

// Unpack reads the packed form of a kernel. Every file is what the manifest
// says, or the pack is refused.
func Unpack(r io.Reader) (*Kernel, error) {
	p, err := openPack(r)
	if err != nil {
		return nil, fmt.Errorf("unpack kernel: %w", err)
	}
	defer p.close()
	k, err := p.kernel()
	if err != nil {
		return nil, fmt.Errorf("unpack kernel %s: %w", p.Release, err)
	}
	data, err := p.next()
	if err != nil {
		return nil, fmt.Errorf("unpack kernel %s: %w", p.Release, err)
	}
	if err := p.end(); err != nil {
		return nil, fmt.Errorf("unpack kernel %s: %w", p.Release, err)
	}
	// By its release a kernel is chosen.
	if is, err := image.Describe(data); err == nil && is.Release != p.Release {
		return nil, fmt.Errorf("unpack kernel %s: its image is Linux %s", p.Release, is.Release)
	}
	k.image = imageOf(data, p.imageFormat())
	return k, nil
}

// packReader reads the files of a pack one after the other, as the manifest
// lists them.
type packReader struct {
	*manifest
	zstd *zstd.Decoder
	tar  *tar.Reader
	read int
}

// openPack reads the manifest of a pack.
func openPack(r io.Reader) (*packReader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(untrusted.MaxWindow))
	if err != nil {
		return nil, err
	}
	p := &packReader{zstd: z, tar: tar.NewReader(z)}
	if err := p.readManifest(); err != nil {
		z.Close()
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return p, nil
}

func (p *packReader) close() { p.zstd.Close() }

func (p *packReader) readManifest() error {
	data, err := p.member(manifestName, untrusted.MaxText)
	if err != nil {
		return err
	}
	p.manifest, err = parseManifest(data)
	return err
}

// member reads the next file of the archive, which must be the one of that name.
func (p *packReader) member(name string, limit int64) ([]byte, error) {
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

// next reads the next file of the manifest.
func (p *packReader) next() ([]byte, error) {
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

// end says whether there is more than the manifest lists.
func (p *packReader) end() error {
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

// kernel reads all but the image, which comes last.
func (p *packReader) kernel() (*Kernel, error) {
	k := &Kernel{Release: p.Release, Arch: p.Arch, Origin: p.Origin}
	files := packedModules{}
	for _, f := range p.Files[:len(p.Files)-1] {
		data, err := p.next()
		if err != nil {
			return nil, err
		}
		switch f.Name {
		case configName:
			k.Config = data
		case systemMapName:
			k.SystemMap = data
		default:
			files[f.Name] = data
			k.packed = append(k.packed, strings.TrimSuffix(path.Base(f.Name), ".ko"))
		}
	}
	k.modules = files.index(p.Builtin)
	return k, nil
}

// packedModules are modules by the name of their file in a pack.
type packedModules map[string][]byte

func (files packedModules) index(builtin []string) *modules {
	m := &modules{builtin: map[string]bool{}, files: map[string]string{}, read: files.open}
	for _, name := range builtin {
		m.builtin[name] = true
	}
	for file := range files {
		m.files[strings.TrimSuffix(path.Base(file), ".ko")] = file
	}
	return m
}

func (files packedModules) open(name string) ([]byte, error) {
	data, ok := files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return data, nil
}
