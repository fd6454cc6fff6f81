package srcline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// lines returns the lines of a text. A word with a colon starts a function.
func lines(text string) []Line {
	var all []Line
	function := "main"
	for i, l := range strings.Fields(text) {
		if name, ok := strings.CutSuffix(l, ":"); ok {
			function = name
			continue
		}
		all = append(all, Line{Function: function, File: "a.c", Number: i + 1, Text: l})
	}
	return all
}

// show writes joined lines as a diff.
func show(joined []Joined) string {
	var all []string
	for _, j := range joined {
		switch {
		case j.Base == nil:
			all = append(all, "+"+j.Head.Text)
		case j.Head == nil:
			all = append(all, "-"+j.Base.Text)
		case j.Base.Text != j.Head.Text:
			all = append(all, j.Base.Text+">"+j.Head.Text)
		default:
			all = append(all, j.Head.Text)
		}
	}
	return strings.Join(all, " ")
}

func TestJoin(t *testing.T) {
	for _, c := range []struct{ base, head, want string }{
		{"", "", ""},
		{"a b c", "a b c", "a b c"},
		{"a b c", "x a b c", "+x a b c"},
		{"a b c", "a b", "a b -c"},
		{"a b c", "a x c", "a b>x c"},
		// Braces can be anywhere: the lines next to them show which is which.
		{"a } b } c }", "a } x } b } c }", "a } +x +} b } c }"},
		{"} } }", "} }", "} } -}"},
		{"a b", "b a", "+b a -b"},
		{"", "a", "+a"},
		{"a", "", "-a"},
		// The program's first function is the same one under any other name.
		{"slow: a b", "fast: a c", "a b>c"},
		{"f: a g: b c", "f: a h: x g: c", "a +x -b c"},
		{"f: a g: b", "f: a", "a -b"},
	} {
		if got := show(Join(lines(c.base), lines(c.head))); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.base, c.head, got, c.want)
		}
	}
}

func TestJoinWithoutText(t *testing.T) {
	base := []Line{{Function: "f", Number: 10}, {Function: "f", Number: 12}}
	head := []Line{{Function: "f", Number: 30}, {Function: "f", Number: 31}, {Function: "f", Number: 32}}
	got := Join(base, head)
	if len(got) != 3 || got[0].Base == nil || got[1].Base != nil || got[2].Base == nil {
		t.Errorf("%+v: lines stand where they did, from where the function begins", got)
	}
}

// Whatever the sides are, the result has each line once, in order, and joined
// lines are equal, or alone between such lines.
func TestJoinKeepsAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var words []string
		for range rng.IntN(30) {
			words = append(words, fmt.Sprint(rng.IntN(12)))
		}
		return strings.Join(words, " ")
	}
	for range 5000 {
		base, head := lines(text()), lines(text())
		var b, h []string
		joined := Join(base, head)
		equal := func(i int) bool {
			return i < 0 || i == len(joined) || joined[i].Base != nil && joined[i].Head != nil && joined[i].Base.Text == joined[i].Head.Text
		}
		for i, j := range joined {
			if j.Base != nil {
				b = append(b, j.Base.Text)
			}
			if j.Head != nil {
				h = append(h, j.Head.Text)
			}
			if j.Base != nil && j.Head != nil && !equal(i) && (!equal(i-1) || !equal(i+1)) {
				t.Fatalf("%q is not %q", j.Base.Text, j.Head.Text)
			}
		}
		if !slices.Equal(b, texts(base)) || !slices.Equal(h, texts(head)) {
			t.Fatalf("%v and %v are not %v and %v", b, h, texts(base), texts(head))
		}
	}
}

// Among several lines in one place, similar ones count as changed.
func TestJoinChanged(t *testing.T) {
	of := func(file string, texts ...string) (all []Line) {
		for i, text := range texts {
			all = append(all, Line{Function: "f", File: file, Number: i + 1, Text: text})
		}
		return all
	}
	const loop, wider, first, last = "for (i = 0; i < (n & 7); i++)", "for (i = 0; i < (n & 15); i++)", "int sum = 0;", "return sum;"
	for _, c := range []struct {
		name       string
		base, head []Line
		want       string
	}{
		{"one line", of("a.c", first, loop, last), of("a.c", first, wider, last), first + " " + loop + ">" + wider + " " + last},
		{"and one before it", of("a.c", first, loop, last), of("a.c", first, "check(n);", wider, last), first + " +check(n); " + loop + ">" + wider + " " + last},
		{"nothing alike", of("a.c", first, loop, "x += y;", last), of("a.c", first, "return table[n];", last), first + " -" + loop + " -x += y; +return table[n]; " + last},
		{"another file", of("old.c", first, loop, last), of("new.c", first, loop, last), first + " " + loop + " " + last},
		{"another file, and a change", of("old.c", first, loop, last), of("dir/new.c", first, wider, last), first + " " + loop + ">" + wider + " " + last},
		{"two files", append(of("a.h", "x;", "y;"), of("a.c", first)...), append(of("b.h", "x;", "y;"), of("b.c", first)...), "x; y; " + first},
	} {
		if got := show(Join(c.base, c.head)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func texts(lines []Line) (all []string) {
	for _, l := range lines {
		all = append(all, l.Text)
	}
	return all
}

func BenchmarkJoin(b *testing.B) {
	var base []Line
	for i := range 20_000 {
		base = append(base, Line{Function: "f", File: "a.c", Number: i, Text: fmt.Sprint(i % 15_000)})
	}
	head := slices.Delete(slices.Clone(base), 100, 200)
	for b.Loop() {
		Join(base, head)
	}
}
