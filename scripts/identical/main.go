// Command identical runs the bundled suite many times on each kernel, half of
// them with every CPU kept busy, and fails unless the results of a kernel are
// byte for byte the same, but for the time at which a run started.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
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
		digests := map[[32]byte]int{}
		for i := range n {
			stop := func() {}
			if i%2 == 1 {
				stop = keepBusy()
			}
			digest, err := once(bin, kernel)
			stop()
			if err != nil {
				return err
			}
			digests[digest]++
		}
		fmt.Printf("%-5s %d runs, %d of them with all CPUs busy: %d different results\n", kernel, n, n/2, len(digests))
		if len(digests) != 1 {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("the results differ on %d kernels", failed)
	}
	return nil
}

// once is the digest of one run's results.
func once(bin, kernel string) ([32]byte, error) {
	cmd := exec.Command(bin, "run", "--kernel", kernel, "--format", "json")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return [32]byte{}, fmt.Errorf("%w: %s", err, &stderr)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(out, &doc); err != nil {
		return [32]byte{}, err
	}
	delete(doc, "started")
	text, err := json.Marshal(doc)
	return sha256.Sum256(text), err
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
