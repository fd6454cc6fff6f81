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

// GoBench writes runs as go test -bench prints them, which is what benchstat reads
// (https://go.dev/design/14313-benchmark-format): a line for each load of the
// objects, with the median of its rounds, because the loads are what differs by
// chance. What was counted is the same on each line, and its unit is said to be
// exact. The keys above them are those of go test, with the object for the package,
// and the kernel and the mode, so that benchstat never compares different ones.
//
// The name of a benchmark is made one of Go: it begins with an upper-case letter
// and has no spaces. What Go measured has the name that it had there, and the same
// units; how often each value was run is not kept. A benchmark that failed has a line that says so, without
// figures.
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

// goUnits are the units of measures whose names are none: those that benchstat
// knows of itself, and those that say of what they are.
var goUnits = map[string]string{
	bench.Latency.Name:           "ns/op",
	bench.LatencyRaw.Name:        "raw-ns/op",
	bench.LatencyFloor.Name:      "floor-ns/op",
	bench.Throughput.Name:        "ops/s",
	bench.Instructions.Name:      "instructions/op",
	bench.InstructionsRaw.Name:   "raw-instructions/op",
	bench.InstructionsFloor.Name: "floor-instructions/op",
	bench.InstructionsPath.Name:  "path-instructions/op",
	bench.BPFInsns.Name:          "bpf-insns/op",
	bench.Contention.Name:        "contention-ns/op",
	bench.Allocs.Name:            "allocs/op",
	bench.HeapBytes.Name:         "B/op",
}

func goUnit(m bench.Measure) string {
	if unit, ok := goUnits[m.Name]; ok {
		return unit
	}
	if slices.Contains(bench.HardwareMeasures, m) {
		return m.Name + "/op"
	}
	return squeezed(m.Name)
}

// unitLines say of units which way is better, and what is exact: benchstat takes
// less for better, and everything for noisy.
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
				if line := "Unit " + goUnit(s.Measure) + says; says != "" && s.N > 0 && !slices.Contains(lines, line) {
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
				continue // one value of all loads is not a sample of several
			}
			if s.N > 0 {
				line += "\t" + strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) + " " + goUnit(s.Measure)
				figures++
			}
		}
		if figures > 0 {
			b.WriteString(line + "\n")
		}
	}
}

// runsOfLoads counts the runs of each load, in the order of their appearance.
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

// goProcs is the number of CPUs at the end of a name. Go leaves it out where it is 1.
func goProcs(r *bench.Result) string {
	switch {
	case r.Driver != bench.DriverGo:
		return fmt.Sprintf("-%d", max(r.CPUs, 1))
	case r.Procs > 1:
		return fmt.Sprintf("-%d", r.Procs)
	}
	return ""
}

// goName is the name of a benchmark as one of Go: the one that it has there, if it is
// one of Go's, or one that begins likewise.
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

// squeezed is text without spaces, which end a field.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, s)
}

// oneLine is text that cannot begin another line.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
}

// goArch is an architecture of uname -m as Go names it.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return machine
}
