package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// An object can name any file as its source, and a line of it is printed: only
// source in the given folders is read.
func TestFindSources(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(dir, "bpf", "a.c"):     "one\ntwo\n" + strings.Repeat("ä", maxSource/4),
		filepath.Join(dir, "secret.txt"):     "secret\n",
		filepath.Join(outside, "secret.c"):   "secret\n",
		filepath.Join(dir, "bpf", "b.bpf.h"): "b\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "secret.c"), filepath.Join(dir, "link.c")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "bpf", "b.bpf.h"), maxSource+1); err != nil {
		t.Fatal(err)
	}
	one := &bench.Executed{PerRun: 1, Instructions: 1}
	lines := []struct {
		line bench.Line
		want string
	}{
		{bench.Line{File: "bpf/a.c", Number: 2, Head: one}, "two"},
		{bench.Line{File: filepath.Join(dir, "bpf", "a.c"), Number: 1, Head: one}, "one"},
		{bench.Line{File: "bpf/a.c", Number: 3, Head: one}, strings.Repeat("ä", 510) + "…"},
		{bench.Line{File: "bpf/a.c", Number: 2, Text: "embedded", Head: one}, "embedded"},
		{bench.Line{File: "bpf/a.c", Number: 2, Base: one}, ""},
		{bench.Line{File: "bpf/a.c", Number: 99, Head: one}, ""},
		{bench.Line{File: "secret.txt", Number: 1, Head: one}, ""},
		{bench.Line{File: "link.c", Number: 1, Head: one}, ""},
		{bench.Line{File: "pipe.c", Number: 1, Head: one}, ""},
		{bench.Line{File: "bpf/b.bpf.h", Number: 1, Head: one}, ""},
		{bench.Line{File: filepath.Join(outside, "secret.c"), Number: 1, Head: one}, ""},
		{bench.Line{File: "../" + filepath.Base(outside) + "/secret.c", Number: 1, Head: one}, ""},
	}
	e := &bench.Explanation{Programs: []bench.Explained{{}}}
	for _, l := range lines {
		e.Programs[0].Lines = append(e.Programs[0].Lines, l.line)
	}
	paths, texts := Find([]*bench.Explanation{e}, dir, filepath.Join(dir, "nosuch"))
	for i, l := range lines {
		if got := e.Programs[0].Lines[i].Text; got != l.want {
			t.Errorf("%s:%d is %q, want %q", l.line.File, l.line.Number, got, l.want)
		}
	}
	if len(paths) != 2 || paths["bpf/a.c"] != filepath.Join(dir, "bpf", "a.c") {
		t.Errorf("the paths %v", paths)
	}
	if len(texts) != 2 || texts["bpf/a.c"][0] != "one" {
		t.Errorf("the texts %v", texts)
	}
}

// The bundled objects know only the names of their sources.
func TestInRepository(t *testing.T) {
	e := &bench.Explanation{Programs: []bench.Explained{{
		Head:  &bench.ExplainedSide{Object: "fun_xdp/fun_xdp_bpfel.o"},
		Lines: []bench.Line{{File: "fun_xdp.c", Number: 1}, {File: "/usr/include/x.h", Number: 1}, {File: "here.c", Number: 1}},
	}}}
	paths := map[string]string{"here.c": "/here.c"}
	InRepository(paths, []*bench.Explanation{e})
	if len(paths) != 2 || paths["fun_xdp.c"] != "programs/fun_xdp/fun_xdp.c" || paths["here.c"] != "/here.c" {
		t.Error(paths)
	}
	if _, err := os.Stat(filepath.Join("..", "..", paths["fun_xdp.c"])); err != nil {
		t.Error(err)
	}
}
