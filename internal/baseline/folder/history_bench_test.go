package folder

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
)

// historical are the measures of each run.
var historical = []baseline.Series{{Benchmark: "", Measure: "latency"}, {Benchmark: "", Measure: "throughput"}, {Benchmark: "", Measure: "latency-raw"}, {Benchmark: "", Measure: "latency-floor"}, {Benchmark: "", Measure: "instructions"}, {Benchmark: "", Measure: "xlated"}, {Benchmark: "", Measure: "jited"}}

// BenchmarkHistory opens a store and reads a history of 500 runs with 2,000 benchmarks.
// peak-MB is the memory of a process that does only that, once.
func BenchmarkHistory(b *testing.B) {
	const runs, benchmarks = 500, 2000
	d := newDir(b)
	e := &baseline.Entry{Meta: baseline.Meta{Branch: "main"}, Run: &bench.Run{Testbed: testTestbed}}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range runs {
		e.Time = testStart.Add(time.Duration(i) * time.Minute)
		e.Points = e.Points[:0]
		for n := range benchmarks {
			for _, m := range historical {
				e.Points = append(e.Points, baseline.Point{Benchmark: fmt.Sprintf("suite/program_%d/packet", n), Measure: m.Measure, Value: 100 * random.Float64()})
			}
		}
		must(d.Save(b.Context(), e))
	}
	for _, n := range []int{1, 2, len(historical)} {
		b.Run(fmt.Sprintf("measures=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h := must(Open(d.path).History(b.Context(), baseline.Query{Branches: []string{"main"}, Testbed: baseline.Key(testTestbed)}, historical[:n]...))
				if got := h.Values("suite/program_7/packet", historical[n-1].Measure); len(got) != runs || len(h.Problems) > 0 {
					b.Fatalf("%d values, problems %v", len(got), h.Problems)
				}
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), historyDir+"="+d.path, historyCount+"="+strconv.Itoa(n))
			out := must(cmd.Output())
			b.ReportMetric(must(strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)), "peak-MB")
		})
	}
}

// readHistory reads a history and prints its peak memory, in MB.
func readHistory(d *Dir) {
	n := must(strconv.Atoi(os.Getenv(historyCount)))
	must(d.History(context.Background(), baseline.Query{}, historical[:n]...))
	for line := range strings.Lines(string(must(os.ReadFile("/proc/self/status")))) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println(must(strconv.ParseFloat(strings.Fields(kb)[0], 64)) / 1000)
		}
	}
}
