package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// goOutput is the output of go test -bench for one or several packages, in the format of
// https://go.dev/design/14313-benchmark-format.
type goOutput struct {
	set *Set
	pkg string
	// units has the content of Unit lines, by unit.
	units map[string]unitSays
	all   []goLine
}

type unitSays struct {
	better bench.Direction
	exact  bool
}

// goLine is one result of one benchmark.
type goLine struct {
	pkg, name string
	values    []float64
	units     []string
	failed    bool
}

// goText reads the output of go test.
func (s *Set) goText(r io.Reader) error {
	out := &goOutput{set: s, units: map[string]unitSays{}}
	if err := lines(r, out.line); err != nil {
		return err
	}
	return out.add()
}

var (
	// headerLine matches a line that describes those after it.
	headerLine = regexp.MustCompile(`^(pkg|cpu|goarch):\s+(.*)$`)
	// failLine matches the failure of a benchmark or a test, failPackage that of a
	// package. For a benchmark it follows the name, unless the benchmark printed
	// something.
	failLine    = regexp.MustCompile(`^(?:Benchmark\S*\s+)?--- FAIL: (\S+)`)
	skipLine    = regexp.MustCompile(`^Benchmark\S*\s+--- SKIP: `)
	failPackage = regexp.MustCompile(`^FAIL\t(\S+)`)
)

func (o *goOutput) line(line string) error {
	if m := failLine.FindStringSubmatch(line); m != nil {
		o.fail(m[1])
		return nil
	}
	if skipLine.MatchString(line) {
		return nil
	}
	if strings.HasPrefix(line, "Benchmark") {
		return o.result(line)
	}
	if rest, ok := strings.CutPrefix(line, "Unit "); ok {
		o.unit(strings.Fields(rest))
		return nil
	}
	if m := headerLine.FindStringSubmatch(line); m != nil {
		value := strings.TrimSpace(m[2])
		switch m[1] {
		case "pkg":
			o.pkg = value
		case "cpu":
			return machine(&o.set.CPU, "CPU", value)
		case "goarch":
			return machine(&o.set.Arch, "architecture", value)
		}
		return nil
	}
	if m := failPackage.FindStringSubmatch(line); m != nil && printable(m[1]) {
		o.set.Failed = append(o.set.Failed, m[1])
	}
	return nil
}

// fail records a benchmark or a test that failed.
func (o *goOutput) fail(name string) {
	switch {
	case strings.HasPrefix(name, "Benchmark"):
		o.all = append(o.all, goLine{pkg: o.pkg, name: name, failed: true})
	case printable(name):
		o.set.Failed = append(o.set.Failed, strings.TrimPrefix(o.pkg+".", ".")+name)
	}
}

// result reads the line of a benchmark: its name, its number of runs, and pairs of a value
// and a unit. Verbose output also has lines with the name alone.
func (o *goOutput) result(line string) error {
	fields := strings.Fields(line)
	if len(fields) == 1 {
		return nil
	}
	if !strings.Contains(line, "\t") && !isNumber(fields[1]) {
		return nil // a sentence that begins like a name
	}
	l := goLine{pkg: o.pkg, name: fields[0]}
	if n, err := strconv.ParseUint(fields[1], 10, 64); err != nil || n == 0 {
		return bench.WithHint(fmt.Errorf("%s has no result in its line", fields[0]), "did it print something of its own? That goes to stderr")
	}
	pairs := fields[2:]
	if len(pairs) == 0 || len(pairs)%2 != 0 {
		return fmt.Errorf("the result of %s is cut off", fields[0])
	}
	for i := 0; i < len(pairs); i += 2 {
		v, err := strconv.ParseFloat(pairs[i], 64)
		if err != nil {
			return fmt.Errorf("%s: %q is not a number", fields[0], pairs[i])
		}
		l.values, l.units = append(l.values, v), append(l.units, pairs[i+1])
	}
	o.all = append(o.all, l)
	return nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// unit reads a property of a unit, such as better=higher.
func (o *goOutput) unit(fields []string) {
	if len(fields) == 0 || len(o.units) == maxMeasures {
		return
	}
	says := o.units[fields[0]]
	for _, f := range fields[1:] {
		switch f {
		case "better=higher":
			says.better = bench.HigherIsBetter
		case "better=lower":
			says.better = bench.LowerIsBetter
		case "assume=exact":
			says.exact = true
		}
	}
	o.units[fields[0]] = says
}

// procs matches the number of CPUs that go test appends to a name.
var procs = regexp.MustCompile(`-[1-9][0-9]*$`)

// add adds the results that were read. A number of CPUs at the end of all names is not
// part of them: it is the machine's. If the numbers differ, -cpu selected them.
func (o *goOutput) add() error {
	suffix := o.suffix()
	cpus, _ := strconv.Atoi(strings.TrimPrefix(suffix, "-"))
	for _, l := range o.all {
		f, err := o.set.benchmark(key{bench.DriverGo, l.pkg, strings.TrimSuffix(l.name, suffix)})
		if err != nil {
			return err
		}
		f.procs = cpus
		if l.failed {
			f.failed = "the benchmark failed: see the output of go test"
		}
		for i, unit := range l.units {
			m, err := o.measure(unit)
			if err == nil {
				err = f.add(m, l.values[i])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// suffix returns the common end of all names. Benchmarks that failed may lack it.
func (o *goOutput) suffix() string {
	var all, ofFailed []string
	for _, l := range o.all {
		at := procs.FindString(l.name)
		switch {
		case !l.failed:
			all = append(all, at)
		case at != "":
			ofFailed = append(ofFailed, at)
		}
	}
	if len(all) == 0 {
		all = ofFailed
	}
	if all = slices.Compact(all); len(all) == 1 {
		return all[0]
	}
	return ""
}

// measure returns the measure for a unit. A unit with the name of a program's measure gets
// another name.
func (o *goOutput) measure(unit string) (bench.Measure, error) {
	switch unit {
	case "ns/op":
		return bench.Latency, nil
	case "B/op":
		return bench.HeapBytes, nil
	case "allocs/op":
		return bench.Allocs, nil
	}
	if len(unit) > maxName || !printable(unit) {
		return bench.Measure{}, fmt.Errorf("the unit %q cannot be printed", unit)
	}
	says := o.units[unit]
	m := bench.Measure{Name: unit, Unit: unit, Direction: cmp.Or(says.better, direction(unit)), Exact: says.exact}
	if !bench.IsCustom(unit) {
		m.Name, m.Unit = unit+"/op", unit+"/op"
	}
	return m, nil
}

// direction returns which direction of a unit is better, if the unit itself shows it: a
// rate, or one of Go's costs, such as p99-ns/op.
func direction(unit string) bench.Direction {
	if strings.HasSuffix(unit, "/s") {
		return bench.HigherIsBetter
	}
	for _, cost := range []string{"-ns", "-ns/op", "-B/op", "-allocs/op"} {
		if strings.HasSuffix(unit, cost) {
			return bench.LowerIsBetter
		}
	}
	return bench.UnknownDirection
}

// goEvent is a line of go test -json (go doc test2json).
type goEvent struct {
	Action, Package, Test, Output string
}

// goEvents reassembles the outputs of packages, which come interleaved and in pieces of
// lines.
type goEvents struct {
	packages []string
	output   map[string]*bytes.Buffer
}

func (e *goEvents) add(line []byte) error {
	var event goEvent
	if err := json.Unmarshal(line, &event); err != nil {
		return fmt.Errorf("no event of go test -json: %w", err)
	}
	switch event.Action {
	case "output":
	case "fail":
		event.Output = event.failed()
	default:
		return nil
	}
	out := e.output[event.Package]
	if out == nil {
		if len(e.packages) == maxBenchmarks {
			return errors.New("too many packages")
		}
		out = &bytes.Buffer{}
		e.packages = append(e.packages, event.Package)
		e.output[event.Package] = out
	}
	out.WriteString(event.Output)
	return nil
}

// failed returns the line that go test without -json prints for a failure. The output of a
// run that was ended early may lack it.
func (e *goEvent) failed() string {
	line := "FAIL\t" + e.Package
	if e.Test != "" {
		line = "--- FAIL: " + e.Test
	}
	return "\n" + strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r == '\n' || r == '\r' }), "") + "\n"
}

// text returns what go test would have printed without -json.
func (e *goEvents) text() io.Reader {
	var all []io.Reader
	for _, p := range e.packages {
		all = append(all, strings.NewReader("pkg: "+strings.Join(strings.Fields(p), "")+"\n"), e.output[p], strings.NewReader("\n"))
	}
	return io.MultiReader(all...)
}
