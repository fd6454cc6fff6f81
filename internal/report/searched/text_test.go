package searched

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

func sample() *bench.Search {
	alive := 124
	packet := "0200000000020200000000010800" + "450000320000400040110000" + "0a0000010a000002" + "c0000009001e0000" + strings.Repeat("00", 22)
	line := func(n int) *bench.Source {
		return &bench.Source{File: "src/xdpfilt_prog.h", Line: n, Function: "filter"}
	}
	return &bench.Search{
		Testbed: bench.Testbed{Mode: bench.ModeHost, Kernel: "6.12.1", CPU: "AMD EPYC", Cores: 2, JIT: "on"}, Seed: 1,
		Programs: []bench.Searched{
			{
				Benchmark: "filter", Object: "xdpfilt.o", Program: "xdpfilt_alw_all", Type: "xdp",
				Tried: 14784, Refused: 604, Unsteady: 2, Elapsed: 0.32, Blocks: bench.Coverage{All: 136, Alive: &alive, Default: 26, Reached: 122},
				Inputs: []bench.FoundInput{
					{Name: bench.InputDefault, Packets: []string{packet}, PerRun: 150, Cost: &bench.Sample{Measure: bench.Latency, Values: []float64{41, 42, 43}}, Retvals: []uint32{2}, Reached: 26, New: 26, Dearest: line(173)},
					{
						Name: bench.InputWorst, Packets: []string{packet, packet + "00"}, Context: "00", PerRun: 308.5, Retvals: []uint32{2, 1}, Reached: 90, New: 90, Dearest: line(74),
						Entries: []bench.FoundEntry{{Map: "ports"}, {Map: "ipv4"}, {Map: "ports"}},
					},
					{Name: "cover-1", PerRun: 90, Retvals: []uint32{0}, Reached: 6, New: 6},
				},
				Unreached: []bench.Source{*line(20), *line(31), {File: "parse.h", Line: 4}},
				Warnings:  []string{"map seen cannot be reset\x1b[2J"},
			},
			{Benchmark: "refused", Object: "refused.o", Program: "refused", Type: "xdp", Error: "the verifier refuses it\x1b[2J"},
			{Benchmark: "old", Object: "old.o", Program: "old", Type: "xdp", Tried: 1, Elapsed: 2, Blocks: bench.Coverage{All: 3, Default: 1, Reached: 1}},
		},
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns int
	}{{"one.txt", 0}, {"narrow.txt", 80}} {
		m := New(sample())
		m.Columns = c.columns
		reporttest.Printable(t, reporttest.Golden(t, c.name, func(w io.Writer) error { return Text(w, m) }))
	}
	two := sample()
	two.Testbed.Kernel, two.Testbed.Mode, two.Partial = "5.10.1", bench.ModeExact, true
	two.Programs[0].Elapsed, two.Programs[0].Inputs[0].Cost = 0, &bench.Sample{Measure: bench.Instructions, Values: []float64{175.5}}
	m := New(sample(), two)
	m.Explained = true
	reporttest.Golden(t, "kernels.txt", func(w io.Writer) error { return Text(w, m) })
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, New(sample())); err != nil {
		t.Fatal(err)
	}
	if got, err := bench.DecodeSearch(&b); err != nil || len(got.Programs) != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}
