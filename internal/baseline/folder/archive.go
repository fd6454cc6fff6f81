package folder

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// archive is the files of an export, still compressed.
type archive struct {
	// files are the files by folder and name.
	files map[string]map[string][]byte
	// size is the size of the files, unpacked that of their contents, in bytes.
	size, unpacked int64
	// objects are the digests that the runs refer to.
	objects map[string]bool
	tags    map[string][]string
}

// readArchive reads and checks a whole export.
func readArchive(ctx context.Context, r io.Reader) (*archive, error) {
	in := &counter{r: r}
	z, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	a := &archive{
		files:   make(map[string]map[string][]byte),
		objects: make(map[string]bool),
		tags:    make(map[string][]string),
	}
	for _, k := range format.Kinds {
		a.files[k.Dir] = make(map[string][]byte)
	}
	t := tar.NewReader(&unpacker{r: z, in: in})
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return a, a.complete()
		}
		if err != nil {
			return nil, fmt.Errorf("read export: %w", err)
		}
		if n == format.MaxMembers {
			return nil, fmt.Errorf("read export: more than %d files", format.MaxMembers)
		}
		if err := a.member(header, t); err != nil {
			return nil, fmt.Errorf("read export: file %.120q: %w", header.Name, err)
		}
	}
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// unpacker reads an unpacked export. It fails if that grows to many times the bytes read.
type unpacker struct {
	r  io.Reader
	n  int64
	in *counter
}

func (u *unpacker) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if u.n += int64(n); !format.Plausible(u.n, u.in.n, format.MaxOuterRatio) {
		return n, format.ErrBomb
	}
	return n, err
}

// member reads one file. It accepts only names that this package makes.
func (a *archive) member(header *tar.Header, r io.Reader) error {
	dir, name, _ := strings.Cut(header.Name, "/")
	i := slices.IndexFunc(format.Kinds, func(k format.Kind) bool { return k.Dir == dir && k.Named(name) })
	switch {
	case i < 0 || format.Kinds[i].Name == format.IndexKind.Name || format.Kinds[i].Name == format.PointsKind.Name:
		return errors.New("no file of an export")
	case header.Typeflag != tar.TypeReg:
		return errors.New("no regular file")
	case a.files[dir][name] != nil:
		return errors.New("it occurs twice")
	case header.Size > format.Kinds[i].MaxFile():
		return format.TooLarge(header.Size, format.Kinds[i].MaxFile())
	}
	if a.size += header.Size; a.size > format.MaxKept {
		return format.TooLarge(a.size, int64(format.MaxKept))
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := a.check(format.Kinds[i], name, data); err != nil {
		return err
	}
	a.files[dir][name] = data
	return nil
}

// check checks the content of one file.
func (a *archive) check(k format.Kind, name string, data []byte) error {
	content, err := format.Unseal(k, data)
	if err != nil {
		return err
	}
	if a.unpacked += int64(len(content)); a.unpacked > format.MaxUnpacked {
		return format.TooLarge(a.unpacked, int64(format.MaxUnpacked))
	}
	switch k.Name {
	case format.ObjectKind.Name:
		return checkObject(name, content)
	case format.TagKind.Name:
		t, err := format.DecodeTag(name, content)
		a.tags[t.ID] = append(a.tags[t.ID], t.Tag)
		return err
	}
	s, err := format.DecodeRun(content)
	if err != nil {
		return err
	}
	for _, sum := range s.Digests {
		a.objects[sum] = true
	}
	if s.ID != name {
		return fmt.Errorf("it holds the run %s", s.ID)
	}
	return nil
}

// complete checks that the files belong together: none is missing, and none is unused.
func (a *archive) complete() error {
	runs, objects := a.files[format.RunKind.Dir], a.files[format.ObjectKind.Dir]
	if len(runs) == 0 {
		return errors.New("read export: no run in it")
	}
	for sum := range a.objects {
		if objects[sum] == nil {
			return fmt.Errorf("read export: object %s is missing", sum)
		}
	}
	for sum := range objects {
		if !a.objects[sum] {
			return fmt.Errorf("read export: no run refers to object %s", sum)
		}
	}
	for id := range a.tags {
		if runs[id] == nil {
			return fmt.Errorf("read export: run %s has a tag and is missing", id)
		}
	}
	return nil
}
