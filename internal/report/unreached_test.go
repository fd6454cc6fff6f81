package report

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestReachedMissing(t *testing.T) {
	edited := func(file string, reached bool, lines ...int) (all []bench.EditedLine) {
		for _, n := range lines {
			all = append(all, bench.EditedLine{File: file, Number: n, Reached: reached})
		}
		return all
	}
	for name, c := range map[string]struct {
		edited, others []bench.EditedLine
		want           string
	}{
		"nothing":         {nil, nil, ""},
		"all reached":     {edited("a.c", true, 3, 4), nil, ""},
		"one":             {edited("src/a.c", false, 3), nil, "src/a.c:3"},
		"a range":         {edited("a.c", false, 3, 4, 6), nil, "a.c:3-6"},
		"far apart":       {edited("a.c", false, 3, 6), nil, "a.c:3, 6"},
		"around reached":  {append(append(edited("a.c", false, 3), edited("a.c", true, 4)...), edited("a.c", false, 5)...), nil, "a.c:3, 5"},
		"two files":       {append(edited("a.c", false, 3), edited("b.c", false, 4)...), nil, "a.c:3, b.c:4"},
		"many":            {edited("a.c", false, 10, 20, 30, 40, 50, 60, 70), nil, "a.c:10, 20, 30, 40, 50, 2 other places"},
		"by another":      {edited("a.c", false, 3, 4), edited("a.c", true, 3), "a.c:4"},
		"all by another":  {edited("a.c", false, 3), edited("a.c", true, 3), ""},
		"not by another":  {edited("a.c", false, 3), edited("a.c", false, 3), "a.c:3"},
		"of another file": {edited("a.c", false, 3), edited("b.c", true, 3), "a.c:3"},
		"hostile":         {edited("\x1b[31m.c", false, 3), nil, "�[31m.c:3"},
	} {
		reached, p := Reached{}, &bench.Pair{Edited: c.edited}
		reached.Add(p)
		reached.Add(&bench.Pair{Edited: c.others})
		got := strings.TrimPrefix(reached.Missing(p), "no benchmark reaches all that changed in ")
		if got, _, _ = strings.Cut(got, ": what"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
