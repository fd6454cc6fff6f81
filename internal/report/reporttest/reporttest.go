// Package reporttest has what the tests of several reports share: golden files,
// and runs to report on.
package reporttest

import (
	"bytes"
	"encoding/csv"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/org/ebpf-bench-action/internal/bench"
)

var update = flag.Bool("update", false, "write the golden files anew; the test then still fails when a renderer does")

// Golden renders, compares the result with a file in testdata, and returns it.
func Golden(t testing.TB, name string, render func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", name, diff.Diff(name, want, "got", b.Bytes()))
	}
	return b.String()
}

// Printable checks that a text moves the cursor only to the next line.
func Printable(t testing.TB, s string) {
	t.Helper()
	for _, r := range s {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%q reaches the terminal", r)
			return
		}
	}
}

var frames = bench.Measure{Name: "frames/op", Unit: "frames/op", Direction: bench.LowerIsBetter}

// IngestedRun returns measurements of go test, with a custom unit, larger by
// more.
func IngestedRun(more float64) *bench.Run {
	run := &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeHost, Kernel: "6.12.1", CPU: "AMD EPYC", Cores: 2, JIT: "on"}}
	for _, name := range []string{"record.Count", "record.Decode"} {
		r := bench.Result{Benchmark: name, Driver: bench.DriverGo, Samples: []bench.Sample{{Measure: bench.Latency}}}
		for i := range 10 {
			r.Samples[0].Values = append(r.Samples[0].Values, 100+more+float64(i)/10)
		}
		run.Results = append(run.Results, r)
		more *= 2
	}
	decode := &run.Results[1]
	add := func(m bench.Measure, v float64) {
		decode.Samples = append(decode.Samples, bench.Sample{Measure: m, Values: []float64{v, v, v}})
	}
	add(bench.Allocs, 2+math.Floor(more/20))
	add(bench.HeapBytes, 96+4*more)
	add(frames, 64+more/10)
	return run
}

// Sheet parses a document of RFC 4180 and checks that all lines have as many
// fields as the header, and that none is a formula.
func Sheet(t testing.TB, text string) (all []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
			if _, err := strconv.ParseFloat(cell, 64); cell != "" && err != nil && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("%q is a formula", cell)
			}
		}
		all = append(all, row)
	}
	return all
}
