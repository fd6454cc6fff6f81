package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// linePlace is where a line is, in as few words as tell it: fun_xdp.c:41, or
// fibonacci+12 where no source is known.
func linePlace(l *bench.Line) string {
	if s := l.Source(); s != nil {
		return sourcePlace(s)
	}
	return offsetPlace(l)
}

// offsetPlace is an instruction of a program, by the function that it is in.
func offsetPlace(l *bench.Line) string {
	return fmt.Sprintf("%s+%d", cmp.Or(l.Function, l.Program, "?"), l.InFunction)
}

// fileNames are short names of files of source: the end of each path that tells it
// from the others.
type fileNames map[string]string

func newFileNames(lines []bench.Line) fileNames {
	names := fileNames{}
	for i := range lines {
		if f := lines[i].File; f != "" {
			names[f] = ""
		}
	}
	for depth := 1; ; depth++ {
		times, open := map[string]int{}, 0
		for f, name := range names {
			if name == "" {
				times[lastNames(f, depth)]++
			}
		}
		for f, name := range names {
			if name != "" {
				continue
			}
			if end := lastNames(f, depth); times[end] == 1 || depth > strings.Count(f, "/") {
				names[f] = end
			} else {
				open++
			}
		}
		if open == 0 {
			return names
		}
	}
}

// lastNames is a path without all but so many names at its end.
func lastNames(file string, n int) string {
	parts := strings.Split(path.Clean(file), "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}

// place is where a line is.
func (n fileNames) place(l *bench.Line) string {
	if l.Source() == nil {
		return offsetPlace(l)
	}
	return fmt.Sprintf("%s:%d", escape.Clip(n[l.File], escape.MaxName/2), l.Number)
}

// reach is what a benchmark's inputs reach of the lines of one file.
type reach struct {
	file string
	// lines are the numbers of those with code, missed are those of them that
	// no run executes.
	lines, missed []int
}

// reached tells of each file what the inputs reach of it, in order.
func (p *explained) reached() []reach {
	type line struct {
		file   string
		number int
	}
	runs := map[line]float64{}
	for i := range p.Lines {
		l := &p.Lines[i]
		if e := p.of(l); e != nil && l.Source() != nil {
			runs[line{l.File, l.Number}] += e.PerRun
		}
	}
	files := map[string]*reach{}
	var all []*reach
	for l, n := range runs {
		r := files[l.file]
		if r == nil {
			r = &reach{file: l.file}
			files[l.file] = r
			all = append(all, r)
		}
		r.lines = append(r.lines, l.number)
		if n == 0 {
			r.missed = append(r.missed, l.number)
		}
	}
	var out []reach
	for _, r := range all {
		slices.Sort(r.lines)
		slices.Sort(r.missed)
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b reach) int { return cmp.Compare(a.file, b.file) })
	return out
}

// ranges are the missed lines: 31-33, 40. Blank lines and comments, which have no
// code, do not break a range.
func (r *reach) ranges() []string {
	const most = 3 // lines without code within a range
	var all []string
	for i := 0; i < len(r.missed); {
		j := i
		for j+1 < len(r.missed) && r.missed[j+1]-r.missed[j] <= most+1 && r.follows(r.missed[j], r.missed[j+1]) {
			j++
		}
		if i == j {
			all = append(all, fmt.Sprint(r.missed[i]))
		} else {
			all = append(all, fmt.Sprintf("%d-%d", r.missed[i], r.missed[j]))
		}
		i = j + 1
	}
	return all
}

// follows tells whether there is no code between two lines.
func (r *reach) follows(a, b int) bool {
	i, _ := slices.BinarySearch(r.lines, a)
	return i+1 < len(r.lines) && r.lines[i+1] == b
}

// mostRanges is how many ranges of a file are listed.
const mostRanges = 20

// unreached are the lines that no run of a benchmark reaches, such as
// fun_xdp.c:31-33, 40, one a file.
func (p *explained) unreached(names fileNames, all bool) []string {
	var out []string
	for _, r := range p.reached() {
		ranges := r.ranges()
		if len(ranges) == 0 {
			continue
		}
		if n := len(ranges) - mostRanges; n > 0 && !all {
			ranges = append(ranges[:mostRanges], fmt.Sprintf("and %d more", n))
		}
		out = append(out, names[r.file]+":"+strings.Join(ranges, ", "))
	}
	return out
}

// unreachedHint is what the reader can do about lines that are not reached.
const unreachedHint = "The benchmark's inputs do not exercise these lines: what they cost is not measured. Packets, maps or globals that lead there would."
