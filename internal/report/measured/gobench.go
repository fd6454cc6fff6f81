package measured

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/stat"
)

// GoBench writes runs in the form of go test -bench, which benchstat reads
// (https://go.dev/design/14313-benchmark-format): a line for each load of the
// objects, with the median of its rounds, because chance affects whole loads. A
// count is the same on each line, and its unit is marked as exact. The keys
// above the lines are those of go test, with the object for the package, and
// the kernel and the mode, so that benchstat never compares different ones.
//
// The name of a benchmark becomes a valid one of Go: it starts with an
// upper-case letter and has no spaces. Measurements by Go keep the names and
// units that they had there; how often each value was run is lost. A benchmark
// that failed has a line that says so, without figures.
func GoBench(w io.Writer, m *Model) error {
	var b strings.Builder
	for _, line := range unitLines(m) {
		b.WriteString(line + "\n")
	}
	for _, t := range m.Tables {
		testbed := &t.Run.Testbed
		for _, kv := range [][2]string{
			{"goos", "linux"}, {"goarch", goArch(testbed.Arch)}, {"cpu", testbed.CPU}, {"kernel", testbed.Kernel}, {"mode", string(testbed.Mode)},
		} {
			fmt.Fprintf(&b, "%s: %s\n", kv[0], oneLine(kv[1]))
		}
		pkg := ""
		for i := range t.Rows {
			r := &t.Rows[i]
			if r.Object != pkg {
				pkg = r.Object
				fmt.Fprintf(&b, "pkg: %s\n", oneLine(pkg))
			}
			writeGoBench(&b, r)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unitLines say which direction is better for a unit, and what is exact: by
// default, benchstat takes less for better, and everything for noisy.
func unitLines(m *Model) []string {
	var lines []string
	for _, t := range m.Tables {
		for i := range t.Rows {
			for _, s := range t.Rows[i].Measures {
				var says string
				switch {
				case s.Direction == bench.HigherIsBetter:
					says += " better=higher"
				case s.Direction == bench.LowerIsBetter && bench.IsCustom(s.Name):
					says += " better=lower"
				}
				if s.Exact {
					says += " assume=exact"
				}
				if line := "Unit " + squeezed(s.PerOp()) + says; says != "" && s.N > 0 && !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

func writeGoBench(b *strings.Builder, r *Row) {
	name := goName(r.Result)
	if r.Error != "" {
		fmt.Fprintf(b, "--- FAIL: %s\n", name)
	}
	columns := map[string][]float64{}
	lines := 0
	for _, s := range r.Measures {
		if s.N == 0 {
			continue
		}
		if values, err := stat.LoadMedians(r.Result, s.Name); err == nil && !s.Exact {
			columns[s.Name] = values
			lines = max(lines, len(values))
		}
	}
	runs := runsOfLoads(r.Result)
	for i := range max(lines, 1) {
		n := uint64(1)
		if i < len(runs) {
			n = runs[i]
		}
		line := fmt.Sprintf("%s%s\t%d", name, goProcs(r.Result), n)
		figures := 0
		for _, s := range r.Measures {
			v := s.Center
			values, timed := columns[s.Name]
			switch {
			case timed && i >= len(values):
				continue
			case timed:
				v = values[i]
			case !s.Exact && i > 0:
				continue // one value for all loads is not a sample
			}
			if s.N > 0 {
				line += "\t" + strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) + " " + squeezed(s.PerOp())
				figures++
			}
		}
		if figures > 0 {
			b.WriteString(line + "\n")
		}
	}
}

// runsOfLoads counts the runs of each load, in order of appearance.
func runsOfLoads(r *bench.Result) []uint64 {
	var runs []uint64
	at := map[int]int{}
	for i, load := range r.Rounds.Load {
		if r.Rounds.RunCnt[i] == 0 {
			continue
		}
		if _, ok := at[load]; !ok {
			at[load] = len(runs)
			runs = append(runs, 0)
		}
		runs[at[load]] += r.Rounds.RunCnt[i]
	}
	return runs
}

// goProcs returns the number of CPUs for the end of a name. Go leaves it out if
// it is 1.
func goProcs(r *bench.Result) string {
	switch {
	case r.Driver != bench.DriverGo:
		return fmt.Sprintf("-%d", max(r.CPUs, 1))
	case r.Procs > 1:
		return fmt.Sprintf("-%d", r.Procs)
	}
	return ""
}

// goName returns the name of a benchmark in Go: its original name if it is a Go
// benchmark, or else one that starts like one.
func goName(r *bench.Result) string {
	name := squeezed(r.Benchmark)
	if r.Driver == bench.DriverGo {
		function := strings.TrimPrefix(r.Program, "Benchmark")
		for _, pkg := range []string{r.Object + ".", path.Base(r.Object) + ".", ""} {
			if rest, ok := strings.CutPrefix(r.Benchmark, pkg+function); ok {
				return "Benchmark" + squeezed(function+rest)
			}
		}
	}
	first, size := utf8.DecodeRuneInString(name)
	if upper := unicode.ToUpper(first); unicode.IsUpper(upper) {
		return "Benchmark" + string(upper) + name[size:]
	}
	return "BenchmarkX" + name
}

// squeezed returns text without spaces, which end a field.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, s)
}

// oneLine returns text that cannot start another line.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
}

// goArch returns Go's name for an architecture of uname -m.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return machine
}
