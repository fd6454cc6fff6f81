package folder

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// FuzzUnseal checks that content survives sealing unchanged, and that nothing else is
// accepted.
func FuzzUnseal(f *testing.F) {
	whole := format.Seal(format.IndexKind, []byte("content"))
	f.Add(whole)
	for _, spoil := range hurts {
		f.Add(spoil(slices.Clone(whole)))
	}
	f.Add(format.Seal(format.RunKind, nil))
	f.Fuzz(func(t *testing.T, file []byte) {
		content, err := format.Unseal(format.IndexKind, file)
		if err != nil {
			return
		}
		if again, err := format.Unseal(format.IndexKind, format.Seal(format.IndexKind, content)); err != nil || !bytes.Equal(again, content) {
			t.Errorf("%q came back as %q, error %v", content, again, err)
		}
	})
}

// FuzzPoints checks that points that are read can be written and read again, and that
// History accepts what Load accepts.
func FuzzPoints(f *testing.F) {
	f.Add(must(format.EncodePoints(testEntry(1).Points)))
	f.Add(must(format.EncodePoints(nil)))
	f.Add([]byte(`{"benchmarks":["a"],"measures":["m"]}` + "\n\x00\x00\x00\x00\x00\x00\xf0\x3f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := format.NewHistorian([]baseline.Meta{{}}, []baseline.Series{{Measure: "latency"}, {Measure: "m"}})
		points, err := format.DecodePoints(data)
		remembered := h.Add(0, data)
		if err != nil {
			return
		}
		if remembered != nil {
			t.Errorf("history: %v", remembered)
		}
		for _, p := range points {
			if h.Wanted[p.Measure] != nil && !slices.Equal(h.History.Series(p.Benchmark, p.Measure), []float64{p.Value}) {
				t.Errorf("history lacks %v", p)
			}
		}
		again, err := format.DecodePoints(must(format.EncodePoints(points)))
		if err != nil || !slices.Equal(again, points) {
			t.Errorf("%v came back as %v, error %v", points, again, err)
		}
	})
}

// FuzzRun checks that a run that is read can be saved and loaded.
func FuzzRun(f *testing.F) {
	f.Add(must(format.EncodeRun(testEntry(1))).Content)
	empty := testEntry(2)
	empty.Run.Results, empty.Objects, empty.Files, empty.Points = []bench.Result{{Benchmark: "a"}}, nil, nil, nil
	f.Add(must(format.EncodeRun(empty)).Content)
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := format.DecodeRun(content)
		if err != nil {
			return
		}
		if err := s.Check(); err != nil || !baseline.IDForm.MatchString(s.ID) {
			t.Errorf("run %q, error %v", s.ID, err)
		}
		if m, err := baseline.DecodeMeta(baseline.EncodeMeta(s.Meta)); err != nil || !m.Equal(&s.Meta) {
			t.Errorf("index %+v of %+v, error %v", m, s.Meta, err)
		}
	})
}

// FuzzMeta checks that no index file breaks a list.
func FuzzMeta(f *testing.F) {
	f.Add(baseline.EncodeMeta(must(format.EncodeRun(testEntry(1))).Meta))
	f.Add([]byte(`{"id":"20261121T114900Z-5f0c2a91","time":"2026-11-21T11:49:00+01:00","objects":["x"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := baseline.DecodeMeta(text)
		if err != nil {
			return
		}
		if again, err := baseline.DecodeMeta(baseline.EncodeMeta(m)); err != nil || !again.Equal(&m) {
			t.Errorf("%+v came back as %+v, error %v", m, again, err)
		}
		if _, err := (baseline.Query{Commit: "aaaaaaa", Tag: "x"}).Apply([]baseline.Meta{m}); err != nil {
			t.Error(err)
		}
	})
}

// FuzzTag checks that a tag file belongs to the run in its name.
func FuzzTag(f *testing.F) {
	tag := format.TagFile{ID: "20261121T114900Z-5f0c2a91", Tag: "v1"}
	f.Add(tag.Name(), tag.Encode())
	f.Add("../x", []byte(`{"id":"../x","tag":"v1"}`))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		got, err := format.DecodeTag(name, text)
		if err == nil && (!format.TagForm.MatchString(name) || format.TaggedRun(name) != got.ID) {
			t.Errorf("tag %+v of file %q", got, name)
		}
	})
}

// FuzzImport checks that an export imports to a whole store or not at all.
func FuzzImport(f *testing.F) {
	d, runs := saved(f, 2)
	check(d.Tag(f.Context(), runs[0].ID, "v1"))
	unpack := func(export []byte) []byte {
		return must(io.ReadAll(must(zstd.NewReader(bytes.NewReader(export)))))
	}
	export := unpack(exported(f, d))
	f.Add(export)
	f.Add(export[:len(export)/2])
	f.Add(unpack(pack([]member{{"runs/../x", nil, '0'}})))
	f.Add(unpack(pack([]member{{"runs/20261121T114900Z-5f0c2a91", format.Seal(format.RunKind, contentOf(manyResults(1000))), '0'}})))
	f.Fuzz(func(t *testing.T, export []byte) {
		d := newDir(t)
		if _, err := d.Import(t.Context(), bytes.NewReader(format.Compress(export))); err != nil {
			if _, err := os.Stat(d.path); err == nil {
				t.Error("something was imported")
			}
			return
		}
		wantWhole(t, d)
	})
}
