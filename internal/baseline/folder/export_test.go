package folder

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

func TestAnImportedRunIsTheExportedOne(t *testing.T) {
	d, runs := saved(t, 3)
	check(d.Tag(t.Context(), runs[1].ID, "v1"))
	var out bytes.Buffer
	check(d.Export(t.Context(), &out, runs[1].ID, runs[0].ID, runs[1].ID))

	other := newDir(t)
	must(other.Save(t.Context(), testEntry(0)))
	for range 2 { // the second time changes nothing
		got := must(other.Import(t.Context(), bytes.NewReader(out.Bytes())))
		if !slices.Equal(ids(got), ids(runs[:2])) || !slices.Equal(got[1].Tags, []string{"v1"}) {
			t.Errorf("imported %v", got)
		}
		for _, m := range got {
			if !reflect.DeepEqual(must(other.Load(t.Context(), m.ID)), must(d.Load(t.Context(), m.ID))) {
				t.Errorf("run %s is another", m.ID)
			}
		}
		if all := listed(t, other, baseline.Query{}); len(all) != 2 {
			t.Errorf("list is %v", all)
		}
	}
	wantWhole(t, other)
	if err := d.Export(t.Context(), &out, "20261121T114900Z-00000000"); !errors.Is(err, baseline.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}

func TestADamagedRunIsNotExported(t *testing.T) {
	d, runs := saved(t, 1)
	check(os.Truncate(d.file(format.RunKind, runs[0].ID), 200))
	wantError(t, d.Export(t.Context(), io.Discard, runs[0].ID), d.file(format.RunKind, runs[0].ID), "truncated")
}

type member struct {
	name string
	data []byte
	kind byte
}

// members splits an export, pack puts one together.
func members(export []byte) []member {
	t := tar.NewReader(must(zstd.NewReader(bytes.NewReader(export))))
	var all []member
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		check(err)
		all = append(all, member{h.Name, must(io.ReadAll(t)), h.Typeflag})
	}
}

func pack(all []member) []byte {
	var out bytes.Buffer
	z := must(zstd.NewWriter(&out))
	t := tar.NewWriter(z)
	for _, m := range all {
		h := &tar.Header{Name: m.name, Size: int64(len(m.data)), Mode: 0o644, Typeflag: m.kind}
		if m.kind == tar.TypeSymlink {
			h.Linkname = "/etc/passwd"
		}
		check(t.WriteHeader(h))
		must(t.Write(m.data))
	}
	check(t.Close())
	check(z.Close())
	return out.Bytes()
}

func TestAHostileExportImportsNothing(t *testing.T) {
	from, runs := saved(t, 2)
	check(from.Tag(t.Context(), runs[0].ID, "v1"))
	export := exported(t, from)
	if got := pack(members(export)); len(members(got)) != 6 {
		t.Fatalf("%d members", len(members(got)))
	}
	at := func(all []member, dir string) int {
		return slices.IndexFunc(all, func(m member) bool { return m.name[:len(dir)] == dir })
	}
	for want, edit := range map[string]func([]member) []member{
		`"../../etc/passwd": no file of an`: func(a []member) []member { return append(a, member{"../../etc/passwd", nil, tar.TypeReg}) },
		`"runs/../x": no file of an`:        func(a []member) []member { return append(a, member{"runs/../x", nil, tar.TypeReg}) },
		`"/runs/x": no file of an`:          func(a []member) []member { return append(a, member{"/runs/x", nil, tar.TypeReg}) },
		"no regular file": func(a []member) []member {
			return append(a, member{"objects/" + sumOf(nil), nil, tar.TypeSymlink})
		},
		"it occurs twice": func(a []member) []member { return append(a, a[0]) },
		"is missing":      func(a []member) []member { return slices.Delete(a, at(a, "objects"), 1+at(a, "objects")) },
		"no run refers to": func(a []member) []member {
			return slices.DeleteFunc(a, func(m member) bool { return m.name == "runs/"+runs[1].ID })
		},
		"has a tag and is": func(a []member) []member {
			// Its own object must go too.
			return slices.DeleteFunc(a, func(m member) bool {
				return m.name == "runs/"+runs[0].ID || m.name == "objects/"+sumOf([]byte("object of run 0"))
			})
		},
		"no run":             func([]member) []member { return nil },
		"SHA-256 is another": func(a []member) []member { a[at(a, "runs")].data[150] ^= 1; return a },
		"truncated":          func(a []member) []member { m := &a[at(a, "tags")]; m.data = m.data[:len(m.data)-2]; return a },
		"has another SHA-256": func(a []member) []member {
			a[at(a, "objects")].data = format.Seal(format.ObjectKind, []byte("x"))
			return a
		},
		"it holds the run": func(a []member) []member { a[at(a, "runs")].name = "runs/20261121T114900Z-00000000"; return a },
		"file has another's": func(a []member) []member {
			a[at(a, "tags")].name = "tags/" + runs[1].ID + "-0000000000000000"
			return a
		},
		"of an unknown": func(a []member) []member {
			m := &a[at(a, "tags")]
			m.data = bytes.Replace(m.data, []byte("v1"), []byte("v7"), 1)
			return a
		},
		"index/" + runs[0].ID: func(a []member) []member { return append(a, member{"index/" + runs[0].ID, nil, tar.TypeReg}) },
	} {
		d := newDir(t)
		_, err := d.Import(t.Context(), bytes.NewReader(pack(edit(members(export)))))
		wantError(t, err, want)
		if _, err := os.Stat(d.path); err == nil {
			t.Errorf("%s: something was imported", want)
		}
	}
	for _, cut := range []int{0, 10, len(export) / 2, len(export) - 5} {
		_, err := newDir(t).Import(t.Context(), bytes.NewReader(export[:cut]))
		wantError(t, err, "import runs: read export: ")
	}
}
