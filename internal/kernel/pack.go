package kernel

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Pack writes the packed form of a kernel: a tar archive compressed by
// zstd, of a manifest, the modules that eBPF programs and their traffic need
// with those named as extra, the config and System.map where there are any, and
// the image as QEMU boots it the fastest. The same kernel packs to the same
// bytes.
func Pack(w io.Writer, k *Kernel, extra ...string) error {
	p, err := newPack(k, extra)
	if err != nil {
		return fmt.Errorf("pack kernel %s: %w", k.Release, err)
	}
	if err := p.write(w); err != nil {
		return fmt.Errorf("pack kernel %s: %w", k.Release, err)
	}
	return nil
}

// pack is a packed kernel before it is written.
type pack struct {
	manifest
	content [][]byte // as the manifest's files
}

func newPack(k *Kernel, extra []string) (*pack, error) {
	p := &pack{manifest: manifest{
		Format:  manifestFormat,
		Release: k.Release,
		Arch:    k.Arch,
		Origin:  k.Origin,
		Builtin: slices.Sorted(maps.Keys(k.modules.builtin)),
	}}
	modules, _, err := k.Modules(slices.Concat(needed, k.packed, extra)...)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		p.add(moduleFile(m.Name), m.Data)
	}
	if k.Config != nil {
		p.add(configName, k.Config)
	}
	if k.SystemMap != nil {
		p.add(systemMapName, k.SystemMap)
	}
	name, image, err := k.boot()
	if err != nil {
		return nil, err
	}
	p.add(name, image)
	return p, nil
}

func (p *pack) add(name string, data []byte) {
	sum := sha256.Sum256(data)
	p.Files = append(p.Files, manifestFile{name, int64(len(data)), hex.EncodeToString(sum[:])})
	p.content = append(p.content, data)
}

func (p *pack) write(w io.Writer) error {
	// More than one goroutine would cut the blocks elsewhere.
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
