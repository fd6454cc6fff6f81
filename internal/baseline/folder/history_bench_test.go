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
)

// historical are the measures of each run.
var historical = []baseline.Series{{Benchmark: "", Measure: "latency"}, {Benchmark: "", Measure: "throughput"}, {Benchmark: "", Measure: "latency-raw"}, {Benchmark: "", Measure: "latency-floor"}, {Benchmark: "", Measure: "instructions"}, {Benchmark: "", Measure: "xlated"}, {Benchmark: "", Measure: "jited"}}

// BenchmarkHistory opens a store and reads a history of 1,000 runs with 300 benchmarks.
// peak-MB is the memory of a process that does only that, once.
func BenchmarkHistory(b *testing.B) {
	const runs, benchmarks = 1000, 300
	d := newDir(b)
	e := testEntry(0)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range runs {
		e.Time = testStart.Add(time.Duration(i) * time.Minute)
		for _, m := range historical {
			e.Points[m.Measure] = make(map[string]float64)
			for n := range benchmarks {
				e.Points[m.Measure][fmt.Sprintf("suite/program_%d/packet", n)] = 100 * random.Float64()
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
