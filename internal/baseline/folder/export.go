package folder

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// Export writes runs with their tags and objects as one file, for Import: the folders of
// the runs in a tar archive. It checks each file before it writes it.
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
	t := tar.NewWriter(w)
	written := make(map[string]string) // objects
	size := int64(0)
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		s, err := d.stored(ctx, root, id)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			path, data := id+"/"+name, s.files[name]
			header := &tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(data)), Format: tar.FormatPAX}
			if first := written[name]; first != "" {
				header.Typeflag, header.Linkname, header.Size, data = tar.TypeLink, first, 0, nil
			} else if slices.ContainsFunc(s.Digests, func(sum string) bool { return objectFile(sum) == name }) {
				written[name] = path
			}
			if size += header.Size; size > maxExport {
				return bench.WithHint(fmt.Errorf("they have more than the %d MiB that an import takes", maxExport>>20), "name some of the runs")
			}
			if err := t.WriteHeader(header); err != nil {
				return err
			}
			if _, err := t.Write(data); err != nil {
				return err
			}
		}
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: lastMember, Mode: 0o644}); err != nil {
		return err
	}
	return t.Close()
}

// lastMember is the last file of an export, by which one that was cut off is known.
const lastMember = "end"

// stored returns a run as it is stored, if it is whole.
func (d *Dir) stored(ctx context.Context, root *os.Root, id string) (*stored, error) {
	s := &stored{files: make(map[string][]byte)}
	err := d.open(root, id, func(f *runFolder) error {
		from := f.raw
		f.raw = func(name string, most int64) ([]byte, error) {
			data, err := from(name, most)
			s.files[name] = data
			return data, err
		}
		e, err := f.entry(ctx, id)
		if err != nil {
			return err
		}
		s.Meta = e.Meta
		for _, tag := range f.tags() {
			if name, err := tagFile(tag); err == nil {
				s.files[name] = nil
			}
		}
		return nil
	})
	return s, err
}

// Import adds the runs of an export and returns them. It adds nothing unless the whole
// export is valid. Existing runs stay as they are and get the tags from the export too.
func (d *Dir) Import(ctx context.Context, r io.Reader) ([]baseline.Meta, error) {
	all, err := readExport(ctx, r)
	if err != nil {
		if ctx.Err() == nil {
			err = bench.WithHint(err, "nothing was imported: export the runs again")
		}
		return nil, fmt.Errorf("import runs: read export: %w", err)
	}
	runs, err := d.add(ctx, all...)
	if err != nil {
		return nil, fmt.Errorf("import runs: %w", err)
	}
	return runs, nil
}

// The limits of an export.
const (
	maxExport  = 1 << 30   // bytes of its files
	maxMembers = 1_000_000 // its files
)

// readExport reads and checks a whole export.
func readExport(ctx context.Context, r io.Reader) ([]*stored, error) {
	runs := make(map[string]*stored)
	size := int64(0)
	t := tar.NewReader(r)
	for n := 0; ; n++ {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("truncated")
		}
		if err != nil {
			return nil, err
		}
		if header.Name == lastMember {
			break
		}
		if size += header.Size; size > maxExport || n == maxMembers {
			return nil, fmt.Errorf("more than %d files or %d MiB", maxMembers, maxExport>>20)
		}
		if err := readMember(runs, header, t); err != nil {
			return nil, fmt.Errorf("file %.120q: %w", header.Name, err)
		}
	}
	if len(runs) == 0 {
		return nil, errors.New("no run in it")
	}
	var all []*stored
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		s := runs[id]
		_, err := s.reader().entry(ctx, id)
		if err != nil {
			if f, ok := errors.AsType[fileError](err); ok {
				err = fmt.Errorf("file %q: %w", id+"/"+f.name, f.error)
			}
			return nil, err
		}
		m, err := s.reader().meta(id)
		if err != nil {
			return nil, err
		}
		s.meta = *m
		known := m.files()
		for name := range s.files {
			if _, isTag := tagOf(name); !isTag && name != metaFile && known[name] == "" {
				return nil, fmt.Errorf("file %q: nothing refers to it", id+"/"+name)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// readMember reads one file. It accepts only names that Export makes.
func readMember(runs map[string]*stored, header *tar.Header, r io.Reader) error {
	file := func(path string) (id, name string, ok bool) {
		id, name, _ = strings.Cut(path, "/")
		return id, name, baseline.CheckID(id) == nil && fileForm.MatchString(name)
	}
	id, name, ok := file(header.Name)
	if !ok {
		return errors.New("no file of an export")
	}
	s := runs[id]
	if s == nil {
		s = &stored{files: make(map[string][]byte)}
		runs[id] = s
	}
	if _, twice := s.files[name]; twice {
		return errors.New("it occurs twice")
	}
	var data []byte
	var err error
	switch header.Typeflag {
	case tar.TypeReg:
		if !strings.HasPrefix(name, tagPrefix) {
			data, err = io.ReadAll(r)
		}
	case tar.TypeLink:
		from, same, _ := file(header.Linkname)
		if runs[from] != nil {
			data = runs[from].files[same]
		}
		if data == nil {
			err = errors.New("it is a link to no file of the export")
		}
	default:
		err = errors.New("no regular file")
	}
	s.files[name] = data
	return err
}
