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

	"github.com/org/ebpf-bench-action/internal/baseline"
)

func TestAnImportedRunIsTheExportedOne(t *testing.T) {
	d, runs := saved(t, 3)
	ok(d.Tag(t.Context(), runs[1].ID, "v1"))
	var out bytes.Buffer
	ok(d.Export(t.Context(), &out, runs[1].ID, runs[0].ID, runs[1].ID))

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

type member struct {
	name string
	data []byte
	kind byte
	link string
}

// members splits an export, pack puts one together.
func members(export []byte) []member {
	t := tar.NewReader(bytes.NewReader(export))
	var all []member
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		ok(err)
		all = append(all, member{h.Name, must(io.ReadAll(t)), h.Typeflag, h.Linkname})
	}
}

func pack(all []member) []byte {
	var out bytes.Buffer
	t := tar.NewWriter(&out)
	for _, m := range all {
		ok(t.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.data)), Mode: 0o644, Typeflag: m.kind, Linkname: m.link}))
		must(t.Write(m.data))
	}
	ok(t.Close())
	return out.Bytes()
}

func TestAHostileExportImportsNothing(t *testing.T) {
	from, runs := saved(t, 2)
	ok(from.Tag(t.Context(), runs[0].ID, "v1"))
	export := exported(t, from)
	if got := members(pack(members(export))); len(got) != 14 || !slices.ContainsFunc(got, func(m member) bool { return m.kind == tar.TypeLink }) {
		t.Fatalf("%d members", len(got))
	}
	id, other := runs[0].ID, runs[1].ID
	at := func(a []member, name string) *member {
		return &a[slices.IndexFunc(a, func(m member) bool { return m.name == id+"/"+name })]
	}
	without := func(a []member, name string) []member {
		return slices.DeleteFunc(a, func(m member) bool { return m.name == id+"/"+name })
	}
	regular := func(name string) func([]member) []member {
		return func(a []member) []member { return append([]member{{name: name, kind: tar.TypeReg}}, a...) }
	}
	own := objectFile(sumOf([]byte("object of run 0")))
	for want, edit := range map[string]func([]member) []member{
		`"../../etc/passwd": no file of an`: regular("../../etc/passwd"),
		`/../x": no file of an`:             regular(id + "/../x"),
		`"/x": no file of an`:               regular("/x"),
		`/x": no file of an`:                regular(id + "/x"),
		`.zst": nothing refers to it`:       regular(id + "/" + sumOf(nil) + ".zst"),
		`tag.%61": nothing refers to it`:    regular(id + "/tag.%61"),
		"no regular file": func(a []member) []member {
			return append([]member{{name: id + "/tag.x", kind: tar.TypeSymlink, link: "/etc/passwd"}}, a...)
		},
		"to no file of the export": func(a []member) []member {
			return append([]member{{name: id + "/tag.x", kind: tar.TypeLink, link: "/etc/passwd"}}, a...)
		},
		"it occurs twice":                  func(a []member) []member { return append([]member{a[0]}, a...) },
		own + `": missing`:                 func(a []member) []member { return without(a, own) },
		metaFile + `": missing`:            func(a []member) []member { return without(a, metaFile) },
		runFile + `": missing`:             func(a []member) []member { return without(a, runFile) },
		"no run in it":                     func(a []member) []member { return a[len(a)-1:] },
		runFile + `": damaged`:             func(a []member) []member { at(a, runFile).data[50] ^= 1; return a },
		pointsFile + `": damaged`:          func(a []member) []member { at(a, pointsFile).data = compress(nil); return a },
		own + `": damaged: its SHA-256 is`: func(a []member) []member { at(a, own).data = compress([]byte("x")); return a },
		"truncated":                        func(a []member) []member { return a[:len(a)-1] },
		"not that of the run's ID":         func(a []member) []member { at(a, metaFile).data = append(at(a, metaFile).data, ' '); return a },
		`"` + other + "/" + suiteFile:      func(a []member) []member { at(a, suiteFile).name = other + "/" + suiteFile; return a },
	} {
		d := newDir(t)
		_, err := d.Import(t.Context(), bytes.NewReader(pack(edit(members(export)))))
		wantError(t, err, want)
		if _, err := os.Stat(d.path); err == nil {
			t.Errorf("%s: something was imported", want)
		}
	}
	for _, cut := range []int{0, 10, len(export) / 2, len(export) - 2048} {
		_, err := newDir(t).Import(t.Context(), bytes.NewReader(export[:cut]))
		wantError(t, err, "import runs: read export: ")
	}
}
