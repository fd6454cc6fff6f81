package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/story"
	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/keep"
)

const (
	storedRuns       = 500
	storedBenchmarks = 2000
	// asStore makes the test's binary fill the store in that folder. It is a
	// process of its own because what it takes would be counted as memory of
	// whatever it starts.
	asStore = "EBPF_BENCH_TEST_STORE"
)

const storePolicy = `version: 1
thresholds:
  - {measure: latency, history: {test: t_test, runs: 500}}
  - {measure: throughput, history: {test: iqr, boundary: 3, runs: 500}}
`

// BenchmarkCompareStore compares a run of 2,000 benchmarks with the baseline,
// and with its history of 500 runs, as a user does: the time of the whole
// process, and the most memory that it had.
func BenchmarkCompareStore(b *testing.B) {
	dir := b.TempDir()
	tool := filepath.Join(dir, "ebpf-bench")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", tool, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	fill := exec.Command(os.Args[0])
	fill.Env = append(os.Environ(), asStore+"="+dir)
	for _, cmd := range []*exec.Cmd{build, fill} {
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	for _, base := range []string{"baseline:main", "head.json"} {
		b.Run(base, func(b *testing.B) {
			most, cpu := 0.0, 0.0
			for b.Loop() {
				cmd := exec.Command(tool, "compare", "--store", "store", "--thresholds", "policy.yml", base, "head.json")
				cmd.Dir = dir
				// The machine may have made a few of 4,000 values look slower.
				var ended *exec.ExitError
				if out, err := cmd.CombinedOutput(); err != nil && (!errors.As(err, &ended) || ended.ExitCode() != exit.Regression) {
					b.Fatalf("%v\n%.2000s", err, out)
				}
				usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
				if !ok {
					b.Fatal("no figures of the process")
				}
				most = max(most, float64(usage.Maxrss)*1024/1e6)
				cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			}
			b.ReportMetric(most, "max-MB")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "wall-s/op")
			// What the tool alone takes, however busy the machine is.
			b.ReportMetric(cpu/float64(b.N), "cpu-s/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// fillStore makes in a folder the store of BenchmarkCompareStore, a run that
// follows, and the policy. All runs have their points, by which a history is
// read; what else a run has is stored of the newest alone.
func fillStore(dir string) error {
	store := folder.Open(filepath.Join(dir, "store"))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range storedRuns + 1 {
		run := story.InventRun("host/6.12/cpu", i)
		for n := range storedBenchmarks {
			r := story.InventResult(bench.ModeHost, fmt.Sprintf("suite/program_%d/packet", n), 100*(1+random.NormFloat64()/1000))
			rate := bench.Sample{Measure: bench.Throughput}
			for j, ns := range r.Rounds.WallNS {
				rate.Values = append(rate.Values, float64(r.Rounds.RunCnt[j])/float64(ns)*1e9)
			}
			r.Samples = append(r.Samples, rate)
			for _, m := range bench.MeasuresOf(bench.Static) {
				r.Samples = append(r.Samples, bench.Sample{Measure: m, Values: []float64{float64(n)}})
			}
			run.Results = append(run.Results, r)
		}
		if i == storedRuns {
			return writeHead(dir, run)
		}
		e := &baseline.Entry{Meta: baseline.Meta{Branch: "main", Time: run.Started}, Run: run, Points: keep.Points(run)}
		if i < storedRuns-1 {
			run.Results = run.Results[:1] // what is read of these are the points
		}
		if _, err := store.Save(context.Background(), e); err != nil {
			return err
		}
	}
	return nil
}

func writeHead(dir string, run *bench.Run) error {
	file, err := os.Create(filepath.Join(dir, "head.json"))
	if err != nil {
		return err
	}
	defer file.Close()
	run.Started = run.Started.Add(time.Minute)
	return errors.Join(bench.EncodeRuns(file, run), os.WriteFile(filepath.Join(dir, "policy.yml"), []byte(storePolicy), 0o644))
}
