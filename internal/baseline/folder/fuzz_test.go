package folder

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/org/ebpf-bench-action/internal/baseline"
)

// FuzzMeta checks that no meta.json breaks a list, and that one that is read is of its ID.
func FuzzMeta(f *testing.F) {
	f.Add(must(encode(testEntry(1))).files[metaFile])
	f.Add([]byte(`{"version":1,"time":"2026-11-21T11:49:00+01:00","objects":["x"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m meta
		_ = json.Unmarshal(text, &m)
		id := idOf(&m, text)
		s := &stored{files: map[string][]byte{metaFile: text}}
		got, err := s.reader().meta(id)
		if err != nil {
			return
		}
		if got.ID != id || got.Check() != nil || !baseline.IDForm.MatchString(id) {
			t.Errorf("meta %+v", got)
		}
		if _, err := (baseline.Query{Commit: "aaaaaaa", Tag: "x"}).Apply([]baseline.Meta{got.Meta}); err != nil {
			t.Error(err)
		}
	})
}

// FuzzFiles checks that a run that is read can be saved and loaded.
func FuzzFiles(f *testing.F) {
	unpacked := func(s *stored, name string) []byte {
		return must(decoder().DecodeAll(s.files[name], make([]byte, 0, 1<<20)))
	}
	whole := must(encode(testEntry(1)))
	f.Add(unpacked(whole, runFile), unpacked(whole, pointsFile), unpacked(whole, suiteFile))
	f.Add([]byte(`{"version":2,"runs":[{"results":[{},{}]}]}`), []byte(`{"latency":{"a\u001b":1}}`), []byte(`{"../x":"YQ=="}`))
	f.Fuzz(func(t *testing.T, run, points, suite []byte) {
		s := must(encode(testEntry(1)))
		m := s.meta
		m.ID = ""
		for name, content := range map[string][]byte{runFile: run, pointsFile: points, suiteFile: suite} {
			m.Files[name], s.files[name] = sumOf(content), compress(content)
		}
		s.files[metaFile] = must(json.Marshal(m))
		e, err := s.reader().entry(t.Context(), idOf(&m, s.files[metaFile]))
		if err != nil {
			return
		}
		if _, err := encode(e); err != nil {
			t.Error(err)
		}
	})
}

// FuzzTag checks that the name of a file stands for one tag.
func FuzzTag(f *testing.F) {
	f.Add("tag.v1", "release/1 β")
	f.Add("tag.%2e%2E", "..")
	f.Fuzz(func(t *testing.T, file, tag string) {
		if of, ok := tagOf(file); ok && must(tagFile(of)) != file {
			t.Errorf("%q is of the tag %q, which has another file", file, of)
		}
		name, err := tagFile(tag)
		if of, ok := tagOf(name); err == nil && (!ok || of != tag || !fileForm.MatchString(name)) {
			t.Errorf("tag %q has the file %q, which is of %q", tag, name, of)
		}
	})
}

// FuzzImport checks that an export imports to a whole store or not at all.
func FuzzImport(f *testing.F) {
	d, runs := saved(f, 2)
	ok(d.Tag(f.Context(), runs[0].ID, "v1"))
	export := exported(f, d)
	f.Add(export)
	f.Add(export[:len(export)/2])
	f.Add(pack([]member{{name: "runs/../x", kind: '0'}, {name: lastMember, kind: '0'}}))
	f.Fuzz(func(t *testing.T, export []byte) {
		d := newDir(t)
		if _, err := d.Import(t.Context(), bytes.NewReader(export)); err != nil {
			if _, err := os.Stat(d.path); err == nil {
				t.Error("something was imported")
			}
			return
		}
		wantWhole(t, d)
	})
}
