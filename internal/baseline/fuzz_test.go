package baseline

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// FuzzUnseal checks that what a file holds comes back as it was, and nothing
// else passes.
func FuzzUnseal(f *testing.F) {
	whole := seal(indexKind, []byte("content"))
	f.Add(whole)
	for _, spoil := range hurts {
		f.Add(spoil(slices.Clone(whole)))
	}
	f.Add(seal(runKind, nil))
	f.Fuzz(func(t *testing.T, file []byte) {
		content, err := unseal(indexKind, file)
		if err != nil {
			return
		}
		if again, err := unseal(indexKind, seal(indexKind, content)); err != nil || !bytes.Equal(again, content) {
			t.Errorf("%q came back as %q, error %v", content, again, err)
		}
	})
}

// FuzzPoints checks that points that are read can be written and read again, and that
// History takes what Load takes.
func FuzzPoints(f *testing.F) {
	f.Add(must(encodePoints(testEntry(1).Points)))
	f.Add(must(encodePoints(nil)))
	f.Add([]byte(`{"benchmarks":["a"],"measures":["m"]}` + "\n\x00\x00\x00\x00\x00\x00\xf0\x3f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := newHistorian([]Meta{{}}, []Series{{Measure: "latency"}, {Measure: "m"}})
		points, err := decodePoints(data)
		remembered := h.add(0, data)
		if err != nil {
			return
		}
		if remembered != nil {
			t.Errorf("history: %v", remembered)
		}
		for _, p := range points {
			if h.wanted[p.Measure] != nil && !slices.Equal(h.history.Series(p.Benchmark, p.Measure), []float64{p.Value}) {
				t.Errorf("history lacks %v", p)
			}
		}
		again, err := decodePoints(must(encodePoints(points)))
		if err != nil || !slices.Equal(again, points) {
			t.Errorf("%v came back as %v, error %v", points, again, err)
		}
	})
}

// FuzzRun checks that a run that is read can be saved and loaded.
func FuzzRun(f *testing.F) {
	f.Add(must(encodeRun(testEntry(1))).content)
	empty := testEntry(2)
	empty.Run.Results, empty.Objects, empty.Files, empty.Points = []bench.Result{{Benchmark: "a"}}, nil, nil, nil
	f.Add(must(encodeRun(empty)).content)
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := decodeRun(content)
		if err != nil {
			return
		}
		if err := s.check(); err != nil || !idForm.MatchString(s.ID) {
			t.Errorf("run %q, error %v", s.ID, err)
		}
		if m, err := decodeMeta(encodeMeta(s.Meta)); err != nil || !m.equal(&s.Meta) {
			t.Errorf("index %+v of %+v, error %v", m, s.Meta, err)
		}
	})
}

// FuzzMeta checks that no index file breaks a list.
func FuzzMeta(f *testing.F) {
	f.Add(encodeMeta(must(encodeRun(testEntry(1))).Meta))
	f.Add([]byte(`{"id":"20261121T114900Z-5f0c2a91","time":"2026-11-21T11:49:00+01:00","objects":["x"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decodeMeta(text)
		if err != nil {
			return
		}
		if again, err := decodeMeta(encodeMeta(m)); err != nil || !again.equal(&m) {
			t.Errorf("%+v came back as %+v, error %v", m, again, err)
		}
		if _, err := (Query{Commit: "aaaaaaa", Tag: "x"}).apply([]Meta{m}); err != nil {
			t.Error(err)
		}
	})
}

// FuzzTag checks that a tag file is of the run that its name says.
func FuzzTag(f *testing.F) {
	tag := tagFile{"20261121T114900Z-5f0c2a91", "v1"}
	f.Add(tag.name(), tag.encode())
	f.Add("../x", []byte(`{"id":"../x","tag":"v1"}`))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		got, err := decodeTag(name, text)
		if err == nil && (!tagForm.MatchString(name) || taggedRun(name) != got.ID) {
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
	f.Add(unpack(pack([]member{{"runs/20261121T114900Z-5f0c2a91", seal(runKind, contentOf(manyResults(1000))), '0'}})))
	f.Fuzz(func(t *testing.T, export []byte) {
		d := newDir(t)
		if _, err := d.Import(t.Context(), bytes.NewReader(compress(export))); err != nil {
			if _, err := os.Stat(d.path); err == nil {
				t.Error("something was imported")
			}
			return
		}
		wantWhole(t, d)
	})
}
