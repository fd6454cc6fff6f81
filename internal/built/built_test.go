package built

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

const (
	// inObject is the source that the object of the tests names, and loop a line of it.
	inObject = "./testdata/objects/one_more.c"
	loop     = "for (int j = 0; j < 8; j++)"

	objects = "../../cmd/ebpf-bench/testdata/objects"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func stat(t testing.TB, name string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// change is a change of one source, in two checkouts.
type change struct {
	*testing.T
	base, head           string
	renewed, headRenewed time.Time
	changed              []string
	// name is the source as compilers name it, in both checkouts file.
	name, file string
}

// newChange makes two checkouts whose sources differ in the count of a loop or, if that is
// the same, in a text. If mapped, compilers do not know where they are.
func newChange(t *testing.T, base, head string, mapped bool, text string) *change {
	c := &change{T: t, base: t.TempDir(), name: inObject, file: inObject}
	// The object has room for a path of one length.
	var err error
	if c.head, err = os.MkdirTemp("/tmp", "b"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(c.head) })
	if c.head, err = filepath.EvalSymlinks(c.head); err != nil {
		t.Fatal(err)
	}
	if !mapped {
		c.file = strings.Repeat("s", len(inObject)-len(c.head)-len("/.c")) + ".c"
		c.name = c.head + "/" + c.file
	}
	source := string(read(t, filepath.Join(objects, "one_more.c")))
	for dir, n := range map[string]string{c.base: base, c.head: head} {
		text := strings.Replace(source, loop, strings.Replace(loop, "8", n, 1), 1) + fmt.Sprintf(text, dir)
		testenv.Write(t, filepath.Join(dir, c.file), []byte(text))
	}
	c.write(c.head, "built.o", c.object(head))
	c.changed = []string{filepath.Clean(c.file)}
	if c.renewed, err = Renew(c.base, c.changed); err != nil {
		t.Fatal(err)
	}
	if c.headRenewed, err = RenewChanged(c.head, c.changed); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{c.base, c.head} {
		if err := MarkUnread(dir); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// object returns what a compiler makes of the source.
func (c *change) object(n string) []byte {
	data := read(c, filepath.Join(objects, "one_more.o"))
	data = bytes.ReplaceAll(data, []byte(loop), []byte(strings.Replace(loop, "8", n, 1)))
	return bytes.ReplaceAll(data, []byte(inObject), []byte(c.name))
}

func (c *change) write(dir, name string, data []byte) {
	testenv.Write(c, filepath.Join(dir, name), data)
}

// readSource reads the base's source, as a compiler does.
func (c *change) readSource() { read(c, filepath.Join(c.base, c.file)) }

// commit makes an object a file of the base's commit.
func (c *change) commit(n string) {
	c.write(c.base, "committed.o", c.object(n))
	at := c.renewed.Add(time.Millisecond)
	if err := os.Chtimes(filepath.Join(c.base, "committed.o"), at, at); err != nil {
		c.Fatal(err)
	}
}

// copied makes the sources be compiled elsewhere, where the base's is now.
func (c *change) copied() {
	elsewhere := c.head[:len(c.head)-1] + "x"
	c.Cleanup(func() { os.RemoveAll(elsewhere) })
	c.write(elsewhere, c.file, read(c, filepath.Join(c.base, c.file)))
	c.name = filepath.Join(elsewhere, c.file)
	c.write(c.head, "built.o", c.object("9"))
}

// include makes a header of a side, unread, and returns its path.
func (c *change) include(dir, n string) string {
	name := filepath.Join(filepath.Dir(c.file), "n.h")
	c.write(dir, name, []byte("#define N "+n+"\n"))
	c.changed = []string{name}
	name = filepath.Join(dir, name)
	if err := os.Chtimes(name, c.renewed.Add(-unread), c.renewed); err != nil {
		c.Fatal(err)
	}
	return name
}

func TestDoubt(t *testing.T) {
	for _, test := range []struct {
		name       string
		base, head string // the loops
		mapped     bool
		build      func(c *change)
		want       string // FILE is the source
	}{
		{"compiled", "8", "9", false, func(c *change) {
			c.readSource()
			c.write(c.base, "built.o", c.object("8"))
		}, ""},
		{"compiled at a mapped path", "8", "9", true, func(c *change) {
			c.readSource()
			c.write(c.base, "built.o", c.object("8"))
		}, ""},
		{"the head's, and something read the source", "8", "9", false, func(c *change) {
			c.readSource()
			c.write(c.base, "built.o", c.object("9"))
		}, "the base was not built: built.o has line 21 of FILE as the head has it"},
		{"the head's at a mapped path", "8", "9", true, func(c *change) {
			c.write(c.base, "built.o", c.object("9"))
		}, "the base was not built: built.o has line 21 of FILE as the head has it"},
		{"no line of it tells", "8", "8", false, func(c *change) {
			c.write(c.base, "built.o", c.object("8"))
		}, "the base was not built: FILE was not read to build built.o"},
		{"no line tells, at a mapped path", "8", "8", true, func(c *change) {
			c.write(c.base, "built.o", c.object("8"))
		}, "the base was not built: FILE was not read to build built.o"},
		{"a source of the head alone", "8", "8", false, func(c *change) {
			if err := os.Remove(filepath.Join(c.base, c.file)); err != nil {
				c.Fatal(err)
			}
			c.write(c.base, "built.o", c.object("8"))
		}, "the base was not built: built.o is made from FILE, which only the head has"},
		{"rightly the same", "8", "8", false, func(c *change) {
			c.readSource()
			read(c, filepath.Join(c.head, c.file))
			c.write(c.base, "built.o", c.object("8"))
		}, ""},
		{"committed", "8", "8", false, func(c *change) {
			c.commit("8")
			c.write(c.base, "built.o", c.object("8"))
			read(c, filepath.Join(c.head, c.file))
		}, ""},
		{"committed, and the head takes it", "8", "8", false, func(c *change) {
			c.commit("8")
			c.write(c.base, "built.o", c.object("8"))
		}, "the head was not built: FILE was not read to build built.o"},
		{"committed, and a comment differs", "8", "8", false, func(c *change) {
			c.commit("8")
			c.write(c.base, "built.o", c.object("8"))
		}, ""},
		{"the commit's time", "8", "8", false, func(c *change) {
			old := c.renewed.Add(-time.Minute)
			if err := os.Chtimes(filepath.Join(c.base, c.file), old, old); err != nil {
				c.Fatal(err)
			}
			c.write(c.base, "built.o", c.object("8"))
		}, "the base was not built: FILE was not read to build built.o"},
		{"the head's source", "8", "9", false, func(c *change) {
			c.write(c.base, c.file, read(c, filepath.Join(c.head, c.file)))
			c.write(c.base, "built.o", c.object("9"))
		}, "the base was not built: its build made FILE, a source of built.o, what it is in the head"},
		{"a copy elsewhere", "8", "9", false, func(c *change) {
			c.copied()
			c.write(c.base, "built.o", c.object("8"))
		}, ""},
		{"the head's, by a copy elsewhere", "8", "9", false, func(c *change) {
			c.copied()
			c.write(c.base, "built.o", c.object("9"))
		}, "the base was not built: built.o has line 21 of FILE as the head has it"},
		{"a header was not read", "8", "8", false, func(c *change) {
			read(c, c.include(c.base, "8"))
			c.include(c.head, "9")
			c.readSource()
			c.write(c.base, "built.o", c.object("8"))
		}, "the head was not built: HEADER was not read to build built.o"},
		{"a header was read", "8", "8", false, func(c *change) {
			read(c, c.include(c.base, "8"))
			read(c, c.include(c.head, "9"))
			c.readSource()
			read(c, filepath.Join(c.head, c.file))
			c.write(c.base, "built.o", c.object("8"))
		}, ""},
		{"a header was read for others", "8", "8", false, func(c *change) {
			read(c, c.include(c.base, "8"))
			read(c, c.include(c.head, "9"))
			c.readSource()
			c.write(c.base, "built.o", c.object("8"))
		}, "the head was not built: built.o is the base's, although HEADER differs"},
		{"a header that only the base has read", "8", "8", false, func(c *change) {
			c.include(c.base, "8")
			read(c, c.include(c.head, "9"))
			c.readSource()
			c.write(c.base, "built.o", c.object("8"))
		}, "the base was not built: HEADER was not read to build built.o"},
		{"a header with times unknown", "8", "8", false, func(c *change) {
			c.include(c.base, "8")
			c.include(c.head, "9")
			c.renewed = time.Time{}
			c.write(c.base, "built.o", c.object("8"))
		}, "the base was not built: built.o is the head's, although HEADER differs"},
		{"without debug information, made before", "8", "8", false, func(c *change) {
			c.write(c.base, "built.o", []byte("not an object"))
			old := c.renewed.Add(-time.Minute)
			if err := os.Chtimes(filepath.Join(c.base, "built.o"), old, old); err != nil {
				c.Fatal(err)
			}
		}, "the base was not built: built.o is older than its build"},
		{"without debug information", "8", "8", false, func(c *change) {
			read(c, filepath.Join(c.head, c.file))
			c.write(c.base, "built.o", []byte("not an object"))
		}, ""},
		{"the head's, without debug information", "8", "8", false, func(c *change) {
			c.write(c.base, "built.o", []byte("not an object"))
			c.write(c.head, "built.o", []byte("not an object"))
		}, "the base was not built: FILE was not read to build built.o"},
		{"without debug information, of a source that did not change", "8", "8", false, func(c *change) {
			for _, dir := range []string{c.base, c.head} {
				c.write(dir, "sub/built.bpf.c", []byte("the same"))
				c.write(dir, "built.o", []byte("not an object"))
			}
		}, ""},
		{"rightly the same, without debug information", "8", "8", false, func(c *change) {
			c.readSource()
			read(c, filepath.Join(c.head, c.file))
			c.write(c.base, "built.o", []byte("not an object"))
			c.write(c.head, "built.o", []byte("not an object"))
		}, ""},
		{"times are unknown", "8", "8", false, func(c *change) {
			c.readSource()
			c.renewed = time.Time{}
			c.write(c.base, "built.o", c.object("8"))
		}, "the base was not built: built.o is the head's, although FILE differs"},
		{"one file", "8", "9", false, func(c *change) {
			if err := os.Symlink(filepath.Join(c.head, "built.o"), filepath.Join(c.base, "built.o")); err != nil {
				c.Fatal(err)
			}
		}, "the base was not built: HEAD/built.o is the same file for both sides"},
		{"the head is the base's", "8", "9", false, func(c *change) {
			c.readSource()
			c.write(c.base, "built.o", c.object("8"))
			c.write(c.head, "built.o", c.object("8"))
		}, "the head was not built: built.o has line 21 of FILE as the base has it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := "#define HERE %q\n"
			switch {
			case strings.Contains(test.name, "comment"):
				text = "// %s\n"
			case strings.Contains(test.name, "header"):
				text = "#include \"n.h\"%.0s\n"
			}
			c := newChange(t, test.base, test.head, test.mapped, text)
			test.build(c)
			s, err := Open(Checkout{c.base, c.renewed}, Checkout{c.head, c.headRenewed}, c.changed)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := strings.NewReplacer("FILE", filepath.Clean(c.file), "HEADER", filepath.Join(filepath.Dir(c.file), "n.h"), "HEAD", c.head).Replace(test.want)
			for range 2 { // looking leaves no trace
				got, err := s.Doubt(filepath.Join(c.base, "built.o"), filepath.Join(c.head, "built.o"))
				if err != nil || got != want {
					t.Errorf("%q, %v, want %q", got, err, want)
				}
			}
		})
	}
}

// Names of debug information lead to the files that they can only mean.
func TestFind(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	base, head, out := filepath.Join(dir, "base"), filepath.Join(dir, "head"), filepath.Join(dir, "out")
	for _, name := range []string{
		"base/x.c", "base/test/x.c", "base/a/prog.c", "base/b/prog.c", "base/moved/y.c", "base/copied.c", "base/same.c",
		"head/x.c", "head/test/x.c", "head/a/prog.c", "head/to/moved/y.c", "head/common/src/lib.rs", "head/copied.c", "head/same.c",
		"out/copied.c",
	} {
		testenv.Write(t, filepath.Join(dir, name), []byte(filepath.Base(name)))
	}
	testenv.Write(t, filepath.Join(out, "same.c"), []byte("another"))
	if err := os.Symlink("to/moved", filepath.Join(head, "moved")); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Checkout{Dir: base}, Checkout{Dir: head}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		name, base string
		inBase     how
		head       string
		inHead     how
	}{
		{"./x.c", "x.c", likely, "x.c", likely},
		{"./prog.c", "", ambiguous, "a/prog.c", likely},
		{head + "/moved/y.c", "moved/y.c", certain, "moved/y.c", certain},
		{head + "/to/moved/y.c", "", absent, "to/moved/y.c", certain},
		{"/rustc/1a2b/library/core/src/lib.rs", "", absent, "common/src/lib.rs", likely},
		{out + "/copied.c", "copied.c", copied, "copied.c", copied},
		{out + "/same.c", "", absent, "", absent},
		{"/container/test/x.c", "test/x.c", likely, "test/x.c", likely},
	} {
		if file, as := s.find(s.base, s.head, c.name); file != c.base || as != c.inBase {
			t.Errorf("%s in the base: %q, %v, want %q, %v", c.name, file, as, c.base, c.inBase)
		}
		if file, as := s.find(s.head, s.base, c.name); file != c.head || as != c.inHead {
			t.Errorf("%s in the head: %q, %v, want %q, %v", c.name, file, as, c.head, c.inHead)
		}
	}
}

// An object that is linked from several sources is stale if one of them is.
func TestDoubtOfParts(t *testing.T) {
	t.Parallel()
	base, head := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.c", "b.c"} {
		testenv.Write(t, filepath.Join(base, name), []byte("int old;\n"))
		testenv.Write(t, filepath.Join(head, name), []byte("int new;\n"))
	}
	testenv.Write(t, filepath.Join(base, "note.c"), []byte("int same; // old\n"))
	testenv.Write(t, filepath.Join(head, "note.c"), []byte("int same; // new\n"))
	s, err := Open(Checkout{Dir: base}, Checkout{Dir: head}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct{ a, b, note, want string }{
		{"int new;", "int new;", "int same; // new", ""},
		{"int new;", "int old;", "int same; // new", "x.o has line 1 of b.c as the base has it"},
		{"int new;", "int new;", "int same; // old", ""},
	} {
		h := &built{own: s.head, other: s.base, name: "x.o", lines: map[string][]line{
			"a.c": {{1, c.a}}, "b.c": {{1, c.b}}, "note.c": {{1, c.note}},
		}}
		if why := s.doubtHead(h, false, false); why != c.want {
			t.Errorf("%+v: %q", c, why)
		}
	}
}

func TestInclusions(t *testing.T) {
	t.Parallel()
	got := inclusions([]byte(`#ifndef X_H
#define X_H
#include "a.h"
#  include <b.h>
#if 1
#include "c.h"
#ifndef D
#include "d.h"
#endif
#endif
#include "e.h" // "f.h"
#endif
`))
	want := []inclusion{{"a.h", true}, {"b.h", false}, {"c.h", false}, {"d.h", false}, {"e.h", true}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// All files get newer than what there is, and keep their order, but what changed is the newest.
func TestRenew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	for i, name := range []string{"c", "b", "sub/deep/a"} {
		name = filepath.Join(dir, name)
		testenv.Write(t, name, []byte(name))
		if at := time.Now().Add(time.Duration(i%2-10) * time.Hour); os.Chtimes(name, at, at) != nil {
			t.Fatal(name)
		}
		names = append(names, name)
	}
	testenv.Write(t, filepath.Join(dir, ".git/index"), nil)
	before := stat(t, filepath.Join(dir, ".git/index")).ModTime()
	began, err := Renew(dir, []string{"sub"})
	if err != nil {
		t.Fatal(err)
	}
	if err := MarkUnread(dir); err != nil {
		t.Fatal(err)
	}
	testenv.Write(t, filepath.Join(dir, "built"), nil)
	names = append(names, filepath.Join(dir, "built"))
	if !slices.IsSortedFunc(names, func(a, b string) int { return stat(t, a).ModTime().Compare(stat(t, b).ModTime()) }) {
		t.Error("not in their order")
	}
	if first := stat(t, names[0]).ModTime(); !first.Equal(began) || first.Before(before) {
		t.Errorf("from %v: %v, the last before is of %v", began, first, before)
	}
	if again := stat(t, filepath.Join(dir, ".git/index")).ModTime(); !again.Equal(before) {
		t.Error("it touches the files of git")
	}
	for _, name := range names[:3] {
		if !isUnread(stat(t, name), began) {
			t.Errorf("%s was read", name)
		}
	}
	times := func() (all []time.Time) {
		for _, name := range names {
			all = append(all, stat(t, name).ModTime())
		}
		return all
	}
	old := times()
	if _, err := RenewChanged(dir, []string{"b", "sub/deep/a", "gone"}); err != nil {
		t.Fatal(err)
	}
	for i, now := range times() {
		if changes := i == 1 || i == 2; now.After(old[i]) != changes {
			t.Errorf("%s: %v, was %v", names[i], now, old[i])
		}
	}
	read(t, names[0])
	if isUnread(stat(t, names[0]), began) {
		t.Error("nobody sees that it was read")
	}
}

func TestRelink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.Write(t, filepath.Join(dir, "sub/x"), []byte("x"))
	links := map[string]string{"in": "/checkout/sub/x", "relative": "sub/x", "sub/up": "../sub/x", "out": "/usr/bin/x", "like": "/checkout2/x", "sub/beside": "../../out/x"}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Relink(dir, "/checkout"); err != nil {
		t.Fatal(err)
	}
	links["in"] = filepath.Join(dir, "sub/x")
	links["sub/beside"] = "/out/x"
	for name, want := range links {
		if to, err := os.Readlink(filepath.Join(dir, name)); err != nil || to != want {
			t.Errorf("%s leads to %s, %v, want %s", name, to, err, want)
		}
	}
}

// Two builds that write to one place leave each side with its own objects.
func TestKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	head, base, shared := filepath.Join(dir, "head"), filepath.Join(dir, "base"), filepath.Join(dir, "shared")
	put := func(name, text string) { testenv.Write(t, filepath.Join(shared, name), []byte(text)) }
	objects := func(in string, names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(in, name))
		}
		return paths
	}
	if err := os.Symlink(head, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, side := range []string{head, base} {
		testenv.Write(t, filepath.Join(side, "own.o"), []byte(filepath.Base(side)))
		// The builds of both saw the checkout at the head's path.
		for name, to := range map[string]string{"out": shared, "x.o": shared + "/x.o", "by": "out/sub", "back.o": "../link/own.o", "nothing.o": "../head/gone"} {
			if err := os.Symlink(to, filepath.Join(side, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("kept.o", "as it was")
	time.Sleep(50 * time.Millisecond) // the clock of files ticks every 10 ms
	began := time.Now().Add(-20 * time.Millisecond)
	for _, name := range []string{"x.o", "sub/y.o", "gone.o"} {
		put(name, "head's "+name)
	}
	if err := os.Chmod(filepath.Join(shared, "x.o"), 0o555); err != nil {
		t.Fatal(err)
	}
	before := stat(t, filepath.Join(shared, "x.o"))

	testenv.Write(t, filepath.Join(head, "hard.o"), []byte("head's hard.o"))
	if err := os.Link(filepath.Join(head, "hard.o"), filepath.Join(shared, "hard.o")); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(shared, "named.o")
	put("named.o", "head's named.o")
	heads, err := Keep(head, append(objects(head, "own.o", "x.o", "by/y.o", "out/kept.o", "out/gone.o", "hard.o", "back.o", "missing.o"), outside), began)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"x.o": false, "sub/y.o": false, "gone.o": false, "kept.o": true, "hard.o": true, "named.o": false} {
		if _, err := os.Stat(filepath.Join(shared, name)); (err == nil) != want {
			t.Errorf("%s while the base is built: %v", name, err)
		}
	}
	if heads.Overwritten() {
		t.Error("overwritten before anything is")
	}
	put("x.o", "base's x.o")
	put("sub/y.o", "base's y.o")
	put("kept.o", "base's kept.o")
	put("hard.o", "base's hard.o")
	put("named.o", "base's named.o")
	if err := BringOutside(base, head, append(objects(base, "own.o", "x.o", "by/y.o", "out/sub/y.o", "out/kept.o", "back.o", "nothing.o"), outside)); err != nil {
		t.Fatal(err)
	}
	if !heads.Overwritten() {
		t.Error("not overwritten")
	}
	if err := heads.GiveBack(); err != nil || heads.Overwritten() {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		base + "/own.o": "base", base + "/back.o": "base", base + "/x.o": "base's x.o", base + "/by/y.o": "base's y.o", base + "/out/sub/y.o": "base's y.o", base + "/out/kept.o": "base's kept.o",
		head + "/own.o": "head", head + "/back.o": "head", head + "/hard.o": "head's hard.o", outside: "head's named.o", head + "/x.o": "head's x.o", head + "/by/y.o": "head's sub/y.o", head + "/out/gone.o": "head's gone.o", head + "/out/kept.o": "as it was",
	} {
		if got := string(read(t, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	after := stat(t, filepath.Join(shared, "x.o"))
	if after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%v of %v, was %v of %v", after.Mode(), after.ModTime(), before.Mode(), before.ModTime())
	}
	if left, err := filepath.Glob(filepath.Join(shared, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a; // b\n\tc":               "a; c",
		"a /* b\n */c":               "a c",
		`"//" /* " */ '"' // x`:      `"//" '"'`,
		`"\"/*" x`:                   `"\"/*" x`,
		"fn f<'a>(x: &'a u8) {} // ": "fn f<'a>(x: &'a u8) {}",
		"'\\'' // x":                 `'\''`,
		"a /* b":                     "a",
		"\"a":                        "\"a",
		"":                           "",
		" \n":                        "",
	} {
		if got := string(code([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestKnowsPath(t *testing.T) {
	t.Parallel()
	data := read(t, filepath.Join(objects, "path.o"))
	for path, want := range map[string]bool{
		"/constantxxxxxxxxxx":       true,
		"/constantxxxxxxxxxy":       false,
		"/instructions/of/":         true,
		"/instructions/of/the/":     true,
		"/instructions/off/the/":    false,
		"/path.c":                   false, // only in the debug information
		"xxxxxxxxxx/instructions/o": false,
	} {
		if knowsPath(data, path) != want {
			t.Errorf("%s: %v, want %v", path, !want, want)
		}
	}
	if knowsPath([]byte("no object"), "/") {
		t.Error("it knows what is no object")
	}
}
