package folder

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// hurts are the ways to damage a file.
var hurts = map[string]func(data []byte) []byte{
	"emptied":   func([]byte) []byte { return nil },
	"cut":       func(b []byte) []byte { return b[:len(b)-1] },
	"flipped":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	"longer":    func(b []byte) []byte { return append(b, 'x') },
	"zeroed":    func(b []byte) []byte { return make([]byte, len(b)) },
	"by others": func([]byte) []byte { return []byte("<<<<<<< HEAD\n") },
}

func TestADamagedFileIsNamedAndAffectsNothingElse(t *testing.T) {
	d, runs := saved(t, 3)
	ok(d.Tag(t.Context(), runs[1].ID, "v1"))
	hurt := runs[1]
	for _, c := range []struct {
		name   string
		listed bool
		known  bool // whether its history is known
	}{
		{metaFile, false, false},
		{runFile, true, true},
		{pointsFile, true, false},
		{suiteFile, true, true},
		{objectFile(sumOf([]byte("object of run 1"))), true, true},
	} {
		file := d.file(hurt, c.name)
		whole := must(os.ReadFile(file))
		for how, spoil := range hurts {
			ok(os.WriteFile(file, spoil(slices.Clone(whole)), 0o644))
			named := func(problems []baseline.Problem) bool {
				return slices.ContainsFunc(problems, func(p baseline.Problem) bool { return p.File == file && bench.Hint(p) != "" })
			}
			if problems := must(d.Verify(t.Context())); len(problems) != 1 || !named(problems) {
				t.Errorf("%s %s: problems %v", c.name, how, problems)
			}
			_, err := d.Load(t.Context(), hurt.ID)
			if p, ok := errors.AsType[baseline.Problem](err); !ok || p.File != file {
				t.Errorf("%s %s: load error %v names no file", c.name, how, err)
			}
			wantError(t, d.Export(t.Context(), io.Discard, hurt.ID), file)
			for _, m := range []baseline.Meta{runs[0], runs[2]} {
				if _, err := d.Load(t.Context(), m.ID); err != nil {
					t.Errorf("%s %s: another run: %v", c.name, how, err)
				}
			}

			tagged, problems, err := d.List(t.Context(), baseline.Query{Tag: "v1"})
			ok(err)
			if (len(tagged) == 1) != c.listed || c.listed == named(problems) {
				t.Errorf("%s %s: listed %v, problems %v", c.name, how, ids(tagged), problems)
			}
			all, _, err := d.List(t.Context(), baseline.Query{})
			ok(err)
			if !slices.Contains(ids(all), runs[0].ID) || !slices.Contains(ids(all), runs[2].ID) {
				t.Errorf("%s %s: listed %v", c.name, how, ids(all))
			}
			h := must(d.History(t.Context(), baseline.Query{Tag: "v1"}, baseline.Series{Measure: "latency"}))
			if got := h.Values("xdp", "latency"); slices.Equal(got, []float64{1}) != c.known || named(h.Problems) == c.known {
				t.Errorf("%s %s: history %v, problems %v", c.name, how, got, h.Problems)
			}

			// Saving the run again repairs it, and it keeps its tags.
			if m := must(d.Save(t.Context(), testEntry(1))); !slices.Equal(m.Tags, []string{"v1"}) {
				t.Errorf("%s %s: tags %v", c.name, how, m.Tags)
			}
			wantWhole(t, d)
		}
	}
}

func TestAFileOfAnotherRunIsFound(t *testing.T) {
	d, runs := saved(t, 2)
	for _, name := range []string{metaFile, runFile, pointsFile} {
		whole := must(os.ReadFile(d.file(runs[1], name)))
		ok(os.WriteFile(d.file(runs[1], name), must(os.ReadFile(d.file(runs[0], name))), 0o644))
		problems := must(d.Verify(t.Context()))
		if len(problems) != 1 || problems[0].File != d.file(runs[1], name) {
			t.Errorf("%s: problems %v", name, problems)
		}
		ok(os.WriteFile(d.file(runs[1], name), whole, 0o644))
	}
	wantWhole(t, d)
}

func TestStraysAreNamedAndLeftAlone(t *testing.T) {
	d, runs := saved(t, 1)
	in := "runs/" + runs[0].ID + "/"
	for _, name := range []string{"runs/x\x1b", in + "x", in + sumOf(nil) + ".zst", in + "tag.", in + "tag.%61", in + "tag.%zz"} {
		file := filepath.Join(d.path, name)
		ok(os.WriteFile(file, nil, 0o644))
		problems := must(d.Verify(t.Context()))
		if len(problems) != 1 || problems[0].File != file || strings.Contains(problems[0].Error(), "\x1b") {
			t.Errorf("%s: problems %v", name, problems)
		}
		listed(t, d, baseline.Query{})
		must(d.Prune(t.Context(), 1))
		ok(os.Remove(file))
	}
	// What is beside the runs may be another baseline.
	ok(os.WriteFile(filepath.Join(d.path, ".gitattributes"), nil, 0o644))
	ok(os.MkdirAll(filepath.Join(d.path, "other", runsDir), 0o755))
	wantWhole(t, d)
}

func TestHostileFilesNeitherHangNorLead(t *testing.T) {
	d, runs := saved(t, 2)
	file := d.file(runs[0], metaFile)
	secret := filepath.Join(t.TempDir(), "secret")
	ok(os.WriteFile(secret, must(os.ReadFile(file)), 0o644))
	for what, hurt := range map[string]func() error{
		"a link out":  func() error { return os.Symlink(secret, file) },
		"a pipe":      func() error { return syscall.Mkfifo(file, 0o644) },
		"a folder":    func() error { return os.Mkdir(file, 0o755) },
		"a huge file": func() error { return errors.Join(os.WriteFile(file, nil, 0o644), os.Truncate(file, 1<<40)) },
	} {
		ok(os.Remove(file))
		ok(hurt())
		all, problems, err := d.List(t.Context(), baseline.Query{})
		if err != nil || len(all) != 1 || len(problems) != 1 || problems[0].File != file {
			t.Errorf("%s: listed %v, problems %v, error %v", what, ids(all), problems, err)
		}
	}

	// A folder that is a link is not followed, not even to remove files.
	ok(os.RemoveAll(filepath.Join(d.path, tmpDir)))
	outside := t.TempDir()
	victim := filepath.Join(outside, "half")
	ok(os.WriteFile(victim, nil, 0o644))
	ok(os.Symlink(outside, filepath.Join(d.path, tmpDir)))
	if _, err := d.Prune(t.Context(), 1); err == nil {
		t.Error("pruned")
	}
	must(os.Stat(victim))
}

func TestALaterVersionIsTold(t *testing.T) {
	s := must(encode(testEntry(1)))
	s.files[metaFile] = []byte(strings.Replace(string(s.files[metaFile]), `"version":1`, `"version":2`, 1))
	_, err := s.reader().entry(t.Context(), s.ID)
	wantError(t, err, "version 2", "reads version 1")
	if !strings.Contains(bench.Hint(err), "later ebpf-bench") {
		t.Errorf("hint %q", bench.Hint(err))
	}
}

func TestAHistoryIsBounded(t *testing.T) {
	h := &baseline.History{Runs: make([]baseline.Meta, maxHistory), ByName: make(map[baseline.Series][]float64)}
	h.ByName[baseline.Series{}] = nil
	lines := []line{{Measure: "latency", Benchmarks: []string{"xdp"}, Values: []float64{1}}}
	if err := remember(h, 0, lines, map[baseline.Series]bool{{Measure: "latency"}: true}); !errors.Is(err, errHistory) || bench.Hint(err) == "" {
		t.Errorf("error %v", err)
	}
}
