package folder

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// Export writes runs with their tags and objects as one file, for Import: the store's own
// files in a tar archive, compressed by zstd. It checks each file before it writes it.
func (d *Dir) Export(ctx context.Context, w io.Writer, ids ...string) error {
	if err := d.export(ctx, w, ids); err != nil {
		return fmt.Errorf("export runs: %w", err)
	}
	return nil
}

func (d *Dir) export(ctx context.Context, w io.Writer, ids []string) error {
	root, err := d.root()
	if err != nil {
		return err
	}
	defer root.Close()
	z, err := zstd.NewWriter(w)
	if err != nil {
		return err
	}
	x := &exporter{dir: d, root: root, tar: tar.NewWriter(z), written: make(map[string]bool)}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.run(ctx, id); err != nil {
			return err
		}
	}
	if err := x.tar.Close(); err != nil {
		return err
	}
	return z.Close()
}

type exporter struct {
	dir     *Dir
	root    *os.Root
	tar     *tar.Writer
	written map[string]bool
}

// run writes the files of a run, those that it refers to first.
func (x *exporter) run(ctx context.Context, id string) error {
	e, err := x.dir.load(ctx, id)
	if err != nil {
		return err
	}
	for _, sum := range e.Digests {
		if err := x.file(format.ObjectKind, sum); err != nil {
			return err
		}
	}
	for _, tag := range e.Tags {
		if err := x.file(format.TagKind, format.TagFile{ID: id, Tag: tag}.Name()); err != nil {
			return err
		}
	}
	return x.file(format.RunKind, id)
}

// file writes a file, unless it was written before, without owner or time.
func (x *exporter) file(k format.Kind, name string) error {
	path := k.Path(name)
	if x.written[path] {
		return nil
	}
	x.written[path] = true
	data, err := readRaw(x.root, k, name)
	if err != nil {
		return x.dir.problem(path, err)
	}
	header := &tar.Header{Name: path, Mode: 0o644, Size: int64(len(data)), Format: tar.FormatPAX}
	if err := x.tar.WriteHeader(header); err != nil {
		return err
	}
	_, err = x.tar.Write(data)
	return err
}
