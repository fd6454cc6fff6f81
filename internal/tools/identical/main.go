// Command identical runs the bundled suite many times on each kernel, half of them with
// every CPU kept busy, and fails unless the results for a kernel are byte for byte the
// same, apart from the start time of a run.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func main() {
	n := flag.Int("n", 20, "number of runs on each kernel")
	bin := flag.String("bin", "./ebpf-bench", "the binary")
	kernels := flag.String("kernels", "5.10,6.1,6.12,7.2", "the kernels")
	flag.Parse()
	if err := run(*n, *bin, strings.Split(*kernels, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "identical:", err)
		os.Exit(1)
	}
}

func run(n int, bin string, kernels []string) error {
	failed := 0
	for _, kernel := range kernels {
		results := map[string]int{}
		for i := range n {
			stop := func() {}
			if i%2 == 1 {
				stop = keepBusy()
			}
			result, err := once(bin, kernel)
			stop()
			if err != nil {
				return err
			}
			results[result]++
		}
		fmt.Printf("%-5s %d runs, %d of them with all CPUs busy: %d different results\n", kernel, n, n/2, len(results))
		if len(results) != 1 {
			failed++
			if err := keep(kernel, results); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("the results differ on %d kernels", failed)
	}
	return nil
}

// keep writes the different results to files for inspection.
func keep(kernel string, results map[string]int) error {
	for result, times := range results {
		f, err := os.CreateTemp("", "identical-"+kernel+"-*.json")
		if err != nil {
			return err
		}
		fmt.Printf("      %d times: %s\n", times, f.Name())
		if _, err := f.WriteString(result); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// once returns the results of one run.
func once(bin, kernel string) (string, error) {
	cmd := exec.Command(bin, "run", "--kernel", kernel, "--format", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, &stderr)
	}
	run, err := bench.DecodeRun(bytes.NewReader(out))
	if err != nil {
		return "", err
	}
	run.Started = time.Time{}
	var text strings.Builder
	err = bench.EncodeRuns(&text, run)
	return text.String(), err
}

// keepBusy burns every CPU until it is stopped.
func keepBusy() (stop func()) {
	var all []*exec.Cmd
	for range runtime.NumCPU() {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if cmd.Start() == nil {
			all = append(all, cmd)
		}
	}
	return func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}
