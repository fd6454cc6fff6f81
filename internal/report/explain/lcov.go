package explain

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
)

// LCOV writes the executed lines of the head as a tracefile of lcov, one test
// per benchmark, for genhtml and for editors that show coverage:
//
//	TN  the benchmark, with its kernel if there are several
//	SF  a file of source
//	FN  the first line of a function of the bytecode, FNDA how often it was entered
//	DA  a line, and how often it was executed in all the runs that were counted
//
// The count of a line is that of its most executed instruction that stays where
// it was written (see bench.Executed.Times): that is how often the line was
// started, or iterated. A line that is in several functions, because it was
// inlined, has the sum of their counts. LCOV fails if there is nothing to
// write, because no object has debug information.
func LCOV(w io.Writer, m *Model) error {
	out := bufio.NewWriter(w)
	programs := m.programs()
	counted, written := 0, 0
	for i := range programs {
		p := &programs[i]
		if p.side() == nil {
			continue
		}
		counted++
		test := p.Benchmark
		if where := p.where(m); where != "" {
			test += "_" + where
		}
		test = notOfTest.ReplaceAllString(test, "_")
		files := lcovFiles(p)
		for _, f := range files {
			fmt.Fprintf(out, "TN:%s\nSF:%s\n", test, lcovText(m.path(f.name)))
			f.write(out)
			written++
		}
	}
	if counted > 0 && written == 0 {
		return bench.WithHint(errNoLines, "compile with -g, and do not strip .BTF and .BTF.ext")
	}
	return out.Flush()
}

var errNoLines = errors.New("no object has debug information of its lines, so no coverage to write")

// notOfTest matches what the name of a test must not contain, or genhtml warns.
var notOfTest = regexp.MustCompile(`\W+`)

// lcovFile is a file of source in a tracefile.
type lcovFile struct {
	name      string
	functions []lcovFunction
	lines     map[int]uint64
}

type lcovFunction struct {
	name  string
	line  int
	times uint64
}

func lcovFiles(p *program) []*lcovFile {
	var files []*lcovFile
	file := func(name string) *lcovFile {
		i := slices.IndexFunc(files, func(f *lcovFile) bool { return f.name == name })
		if i < 0 {
			i = len(files)
			files = append(files, &lcovFile{name: name, lines: map[int]uint64{}})
		}
		return files[i]
	}
	for _, f := range p.functions() {
		var first *bench.Line
		for _, l := range f.lines {
			if l.Source() == nil || p.of(l) == nil {
				continue
			}
			in := file(l.File)
			in.lines[l.Number] = add(in.lines[l.Number], times(p, l))
			if first == nil || l.Offset < first.Offset {
				first = l
			}
		}
		if first != nil {
			in := file(first.File)
			in.functions = append(in.functions, lcovFunction{functionLabel(p, f.program, f.name), first.Number, entered(p, first)})
		}
	}
	slices.SortFunc(files, func(a, b *lcovFile) int { return cmp.Compare(a.name, b.name) })
	return files
}

// times returns how often a line was reached in all runs, once if only the
// first run reached it.
func times(p *program, l *bench.Line) uint64 {
	e := p.of(l)
	if e.Times == 0 && e.FirstOnly {
		return 1
	}
	return timesOf(e.Times, p.side().Runs)
}

// entered returns how often the first instruction of a function was executed.
func entered(p *program, first *bench.Line) uint64 {
	if code := p.of(first).Code; len(code) > 0 {
		return timesOf(code[0].PerRun, p.side().Runs)
	}
	return times(p, first)
}

// timesOf returns a mean times its runs: a whole number, except for what the
// division lost.
func timesOf(perRun float64, runs uint64) uint64 {
	n := math.Round(perRun * float64(runs))
	if n == 0 && perRun > 0 {
		n = 1
	}
	return inAll(n)
}

// mostTimes is the largest count that every reader has room for.
const mostTimes = 1 << 53

func inAll(v float64) uint64 { return uint64(min(max(v, 0), mostTimes)) }

func add(a, b uint64) uint64 { return min(a+b, mostTimes) }

func (f *lcovFile) write(w io.Writer) {
	hit := 0
	slices.SortStableFunc(f.functions, func(a, b lcovFunction) int { return cmp.Compare(a.line, b.line) })
	for _, fn := range f.functions {
		fmt.Fprintf(w, "FN:%d,%s\n", fn.line, lcovName(fn.name))
	}
	for _, fn := range f.functions {
		fmt.Fprintf(w, "FNDA:%d,%s\n", fn.times, lcovName(fn.name))
		if fn.times > 0 {
			hit++
		}
	}
	fmt.Fprintf(w, "FNF:%d\nFNH:%d\n", len(f.functions), hit)
	var numbers []int
	for n := range f.lines {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	hit = 0
	for _, n := range numbers {
		fmt.Fprintf(w, "DA:%d,%d\n", n, f.lines[n])
		if f.lines[n] > 0 {
			hit++
		}
	}
	fmt.Fprintf(w, "LF:%d\nLH:%d\nend_of_record\n", len(numbers), hit)
}

// lcovName returns a name without the separator of the fields of a record.
func lcovName(s string) string { return strings.ReplaceAll(lcovText(s), ",", "_") }

// lcovText returns text that ends no record.
func lcovText(s string) string { return strings.TrimSpace(escape.Printable(s)) }
