// Command repeat runs the bundled suite several times and prints how far apart the medians
// of the runs are: what a reader may expect of one run.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"text/tabwriter"
)

func main() {
	n := flag.Int("n", 10, "number of runs")
	bin := flag.String("bin", "./ebpf-bench", "the binary")
	flag.Parse()
	if err := run(*n, *bin, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "repeat:", err)
		os.Exit(1)
	}
}

func run(n int, bin string, args []string) error {
	medians := map[string][]float64{}
	for range n {
		cmd := exec.Command(bin, append([]string{"run", "--format", "bmf"}, args...)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		var doc map[string]map[string]struct{ Value float64 }
		if err := json.Unmarshal(out, &doc); err != nil {
			return err
		}
		for name, measures := range doc {
			medians[name] = append(medians[name], measures["latency"].Value)
		}
	}
	return print(medians)
}

func print(medians map[string][]float64) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "benchmark\truns\tlowest net\tmiddle\thighest\tfrom the middle")
	var names []string
	for name := range medians {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := slices.Sorted(slices.Values(medians[name]))
		low, high := v[0], v[len(v)-1]
		middle := (low + high) / 2
		fmt.Fprintf(w, "%s\t%d\t%.2f ns\t%.2f ns\t%.2f ns\t±%.1f%%\n", name, len(v), low, middle, high, 100*(high-low)/2/middle)
	}
	return w.Flush()
}
