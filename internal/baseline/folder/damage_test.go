package folder

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/format"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// hurts are the ways to damage a file.
var hurts = map[string]func(data []byte) []byte{
	"flipped early": func(b []byte) []byte { b[30] ^= 4; return b },
	"flipped late":  func(b []byte) []byte { b[len(b)-1] ^= 0x80; return b },
	"flipped sum":   func(b []byte) []byte { b[60] ^= 1; return b },
	"truncated":     func(b []byte) []byte { return b[:len(b)-1] },
	"in half":       func(b []byte) []byte { return b[:len(b)/2] },
	"in its line":   func(b []byte) []byte { return b[:25] },
	"emptied":       func([]byte) []byte { return nil },
	"longer":        func(b []byte) []byte { return append(b, 0) },
	"of others":     func([]byte) []byte { return []byte("root:x:0:0") },
	"of a later version": func(b []byte) []byte {
		return []byte(strings.Replace(string(b), " v1 ", " v2 ", 1))
	},
}

func TestADamagedFileIsNamedAndAffectsNothingElse(t *testing.T) {
	d, runs := saved(t, 3)
	check(d.Tag(t.Context(), runs[1].ID, "v1"))
	hurt := runs[1]
	own := hurt.Digests[0]
	if own == sumOf([]byte(sharedObject)) {
		own = hurt.Digests[1]
	}
	for _, c := range []struct {
		format.Kind
		name   string
		loads  bool // whether the run still loads
		listed bool // whether it is still listed, with its tag
		known  bool // whether its history is known, even if from another file
	}{
		{format.RunKind, hurt.ID, false, true, true},
		{format.ObjectKind, own, false, true, true},
		{format.IndexKind, hurt.ID, true, false, false},
		{format.PointsKind, hurt.ID, true, true, true},
		{format.TagKind, format.TagFile{ID: hurt.ID, Tag: "v1"}.Name(), true, false, false},
	} {
		file := d.file(c.Kind, c.name)
		whole := must(os.ReadFile(file))
		for how, spoil := range hurts {
			check(os.WriteFile(file, spoil(slices.Clone(whole)), 0o644))
			named := func(problems []baseline.Problem) bool {
				return slices.ContainsFunc(problems, func(p baseline.Problem) bool { return p.File == file && !p.Leftover && bench.Hint(p) != "" })
			}
			if problems := must(d.Verify(t.Context())); len(problems) != 1 || !named(problems) {
				t.Errorf("%s %s: problems %v", c.Dir, how, problems)
			}
			_, err := d.Load(t.Context(), hurt.ID)
			if (err == nil) != c.loads {
				t.Errorf("%s %s: load error %v", c.Dir, how, err)
			}
			var p baseline.Problem
			if err != nil && (!errors.As(err, &p) || p.File != file) {
				t.Errorf("%s %s: load error %v names no file", c.Dir, how, err)
			}
			if c.name == own {
				wantError(t, err, "run "+hurt.ID+" has it")
				wantError(t, must(d.Verify(t.Context()))[0], "run "+hurt.ID+" has it")
			}
			for _, m := range []baseline.Meta{runs[0], runs[2]} {
				if _, err := d.Load(t.Context(), m.ID); err != nil {
					t.Errorf("%s %s: another run: %v", c.Dir, how, err)
				}
			}

			tagged, problems, err := d.List(t.Context(), baseline.Query{Tag: "v1"})
			check(err)
			if (len(tagged) == 1) != c.listed || c.listed == named(problems) {
				t.Errorf("%s %s: listed %v, problems %v", c.Dir, how, ids(tagged), problems)
			}
			all, _, err := d.List(t.Context(), baseline.Query{})
			check(err)
			if !slices.Contains(ids(all), runs[0].ID) || !slices.Contains(ids(all), runs[2].ID) {
				t.Errorf("%s %s: listed %v", c.Dir, how, ids(all))
			}
			h := must(d.History(t.Context(), baseline.Query{Tag: "v1"}, baseline.Series{Measure: "latency"}))
			if got := h.Values("xdp", "latency"); slices.Equal(got, []float64{1}) != c.known {
				t.Errorf("%s %s: history %v", c.Dir, how, got)
			}
			if c.name == hurt.ID && c.Dir == format.PointsKind.Dir && !named(h.Problems) {
				t.Errorf("%s %s: history has problems %v", c.Dir, how, h.Problems)
			}

			// Saving or rebuilding repairs it.
			if c.Dir == format.IndexKind.Dir || c.Dir == format.PointsKind.Dir {
				must(d.Rebuild(t.Context()))
			} else {
				e := testEntry(1)
				e.Tags = []string{"v1"}
				must(d.Save(t.Context(), e))
			}
			wantWhole(t, d)
		}
	}
}

func TestHistoryOfARunWithoutPointsOrRun(t *testing.T) {
	d, runs := saved(t, 2)
	check(os.Truncate(d.file(format.PointsKind, runs[1].ID), 9))
	check(os.Truncate(d.file(format.RunKind, runs[1].ID), 9))
	h := must(d.History(t.Context(), baseline.Query{}, baseline.Series{Measure: "latency"}))
	if got := h.Values("xdp", "latency"); !slices.Equal(got, []float64{0}) || len(h.Problems) != 2 || len(h.Runs) != 2 {
		t.Errorf("values %v, problems %v", got, h.Problems)
	}
}

func TestMissingFilesAreNamed(t *testing.T) {
	for _, k := range []format.Kind{format.RunKind, format.PointsKind, format.ObjectKind} {
		d, runs := saved(t, 2)
		name := runs[0].ID
		if k.Name == format.ObjectKind.Name {
			name = sumOf([]byte("object of run 0"))
		}
		check(os.Remove(d.file(k, name)))
		problems := must(d.Verify(t.Context()))
		if len(problems) == 0 || problems[0].File != d.file(k, name) || problems[0].Leftover {
			t.Fatalf("problems %v", problems)
		}
		wantError(t, problems[0], "missing")
	}
}

func TestAFileUnderAnothersNameIsFound(t *testing.T) {
	d, runs := saved(t, 2)
	for _, k := range []format.Kind{format.RunKind, format.PointsKind, format.IndexKind} {
		whole := must(os.ReadFile(d.file(k, runs[1].ID)))
		check(os.WriteFile(d.file(k, runs[1].ID), must(os.ReadFile(d.file(k, runs[0].ID))), 0o644))
		problems := must(d.Verify(t.Context()))
		if len(problems) != 1 || problems[0].File != d.file(k, runs[1].ID) {
			t.Errorf("%s: problems %v", k.Name, problems)
		}
		check(os.WriteFile(d.file(k, runs[1].ID), whole, 0o644))
	}
	wantWhole(t, d)
}

func TestStraysAreNamedAndLeftAlone(t *testing.T) {
	d, _ := saved(t, 1)
	for _, name := range []string{"notes\x1b.txt", "runs/x", "index/20261121T114900Z", "objects/" + sumOf(nil) + ".o", "tmp/x", "tags/y"} {
		file := filepath.Join(d.path, name)
		check(os.WriteFile(file, nil, 0o644))
		problems := must(d.Verify(t.Context()))
		if len(problems) != 1 || problems[0].File != file || problems[0].Leftover || strings.Contains(problems[0].Error(), "\x1b") {
			t.Errorf("%s: problems %v", name, problems)
		}
		listed(t, d, baseline.Query{})
		must(d.Prune(t.Context(), 1))
		check(os.Remove(file))
	}
	check(os.WriteFile(filepath.Join(d.path, ".gitattributes"), nil, 0o644))
	wantWhole(t, d)
}

func TestHostileFilesNeitherHangNorLead(t *testing.T) {
	d, runs := saved(t, 2)
	secret := filepath.Join(t.TempDir(), "secret")
	check(os.WriteFile(secret, must(os.ReadFile(d.file(format.IndexKind, runs[0].ID))), 0o644))
	file := d.file(format.IndexKind, runs[0].ID)
	bomb := format.Seal(format.Kind{Name: format.IndexKind.Name}, make([]byte, format.MaxMeta+1))
	for what, hurt := range map[string]func() error{
		"a link out":  func() error { return os.Symlink(secret, file) },
		"a pipe":      func() error { return syscall.Mkfifo(file, 0o644) },
		"a folder":    func() error { return os.Mkdir(file, 0o755) },
		"a bomb":      func() error { return os.WriteFile(file, bomb, 0o644) },
		"a huge file": func() error { return errors.Join(os.WriteFile(file, nil, 0o644), os.Truncate(file, 1<<40)) },
	} {
		check(os.Remove(file))
		check(hurt())
		all, problems, err := d.List(t.Context(), baseline.Query{})
		if err != nil || len(all) != 1 || len(problems) != 1 || problems[0].File != file {
			t.Errorf("%s: listed %v, problems %v, error %v", what, ids(all), problems, err)
		}
	}

	// A folder that is a link is not followed, not even to remove files.
	check(os.RemoveAll(filepath.Join(d.path, tmpDir)))
	outside := t.TempDir()
	victim := filepath.Join(outside, "run-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	check(os.WriteFile(victim, nil, 0o644))
	check(os.Symlink(outside, filepath.Join(d.path, tmpDir)))
	if _, err := d.Prune(t.Context(), 1); err == nil {
		t.Error("pruned")
	}
	must(os.Stat(victim))
}

func TestAHistoryIsBounded(t *testing.T) {
	h := format.NewHistorian(make([]baseline.Meta, 1), []baseline.Series{{Measure: "latency"}})
	h.Size = format.MaxHistory
	if err := h.Add(0, must(format.EncodePoints(testEntry(1).Points))); !errors.Is(err, format.ErrHistory) || bench.Hint(err) == "" {
		t.Errorf("error %v", err)
	}
}
