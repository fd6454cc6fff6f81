package explain

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/report"
)

// fileNames are short names of source files: the end of each path that
// distinguishes it from the others.
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

// lastNames returns the last n names of a path.
func lastNames(file string, n int) string {
	parts := strings.Split(path.Clean(file), "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}

// place returns the place of a line.
func (n fileNames) place(l *bench.Line) string {
	if l.Source() == nil {
		return report.OffsetPlace(l)
	}
	return fmt.Sprintf("%s:%d", escape.Clip(n[l.File], escape.MaxName/2), l.Number)
}

// basePlace returns the place of a line in the base.
func (n fileNames) basePlace(l *bench.Line) string {
	was := *l
	was.Number = cmp.Or(l.BaseNumber, l.Number)
	if l.BaseFile != "" {
		return fmt.Sprintf("%s:%d", escape.Clip(path.Base(l.BaseFile), escape.MaxName/2), was.Number)
	}
	return n.place(&was)
}

// reach is what a benchmark's inputs reach of the lines of one file.
type reach struct {
	file string
	// lines are the numbers of the lines with code, missed those that no run
	// reaches, and first those that only the first run reaches.
	lines, missed, first []int
}

// reachedHow are the ways in which a line is reached, each more than the one
// before.
const (
	notReached = iota
	firstReached
	runsReach
)

func howReached(e *bench.Executed) int {
	switch {
	case e.Times > 0:
		return runsReach
	case e.FirstOnly:
		return firstReached
	}
	return notReached
}

// reached returns what the inputs reach of each file, in order.
func (p *program) reached() []reach {
	type line struct {
		file   string
		number int
	}
	how := map[line]int{}
	for i := range p.Lines {
		l := &p.Lines[i]
		if e := p.of(l); e != nil && l.Source() != nil {
			at := line{l.File, l.Number}
			how[at] = max(how[at], howReached(e))
		}
	}
	var all []reach
	for _, l := range slices.SortedFunc(maps.Keys(how), func(a, b line) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.number, b.number))
	}) {
		if n := len(all); n == 0 || all[n-1].file != l.file {
			all = append(all, reach{file: l.file})
		}
		r := &all[len(all)-1]
		r.lines = append(r.lines, l.number)
		switch how[l] {
		case notReached:
			r.missed = append(r.missed, l.number)
		case firstReached:
			r.first = append(r.first, l.number)
		}
	}
	return all
}

// ranges formats lines of a file: 31-33, 40. Blank lines and comments, which
// have no code, do not break a range.
func (r *reach) ranges(of []int) []string {
	const most = 3 // lines without code within a range
	var all []string
	for i := 0; i < len(of); {
		j := i
		for j+1 < len(of) && of[j+1]-of[j] <= most+1 && r.follows(of[j], of[j+1]) {
			j++
		}
		if i == j {
			all = append(all, fmt.Sprint(of[i]))
		} else {
			all = append(all, fmt.Sprintf("%d-%d", of[i], of[j]))
		}
		i = j + 1
	}
	return all
}

// follows reports whether there is no code between two lines.
func (r *reach) follows(a, b int) bool {
	i, _ := slices.BinarySearch(r.lines, a)
	return i+1 < len(r.lines) && r.lines[i+1] == b
}

// mostRanges is how many ranges of a file are listed.
const mostRanges = 20

// unreached are lines that are not reached, or not by the counted runs.
type unreached struct {
	what   string
	places []string // such as fun_xdp.c:31-33, 40, one a file
	hint   string
}

// unreached returns the lines of a benchmark that its runs do not reach.
func (p *program) unreached(names fileNames, all bool) []unreached {
	if p.side() == nil {
		return nil
	}
	missed := unreached{what: "not reached in " + runs(p.side().Runs), hint: unreachedHint}
	first := unreached{what: "reached in the first runs alone", hint: firstHint}
	for _, r := range p.reached() {
		missed.add(names[r.file], r.ranges(r.missed), all)
		first.add(names[r.file], r.ranges(r.first), all)
	}
	return slices.DeleteFunc([]unreached{missed, first}, func(u unreached) bool { return len(u.places) == 0 })
}

func (u *unreached) add(file string, ranges []string, all bool) {
	if len(ranges) == 0 {
		return
	}
	if n := len(ranges) - mostRanges; n > 0 && !all {
		ranges = append(ranges[:mostRanges], fmt.Sprintf("and %d more", n))
	}
	u.places = append(u.places, file+":"+strings.Join(ranges, ", "))
}

// Hints about lines that are not reached.
const (
	unreachedHint = "No counted run reached these lines, so their cost is not in the figures. To count them, give packets, maps or globals that lead there."
	firstHint     = "The first runs find maps as they were filled. They are not in the figures, because those after them find what they left."
)

// notes returns further findings: failed tail calls, and renamed files.
func (p *program) notes(names fileNames) []string {
	var all []string
	add := func(note string) {
		if !slices.Contains(all, note) {
			all = append(all, note)
		}
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		if l.BaseFile != "" {
			add(escape.Printable(names[l.File]) + " was " + escape.Printable(path.Base(l.BaseFile)) + " in the base")
		}
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		place := escape.Printable(names.place(l)) + ": "
		for _, side := range []*bench.Executed{l.Base, l.Head} {
			if side == nil {
				continue
			}
			of := ""
			if p.two() && side == l.Base {
				of = "in the base, "
			}
			for _, note := range side.Notes {
				if of != "" && l.Head != nil && slices.Contains(l.Head.Notes, note) {
					continue
				}
				add(place + of + escape.Printable(note))
			}
		}
	}
	return all
}
