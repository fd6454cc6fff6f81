// Command profile measures the profiler beside perf: the share that each function has, the
// time of sleeps, and what a program costs more that is sampled.
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	pprof "github.com/google/pprof/profile"
)

//go:embed testdata/work.c
var source []byte

// figures has what all measurements share.
type figures struct {
	bin   string // of ebpf-bench
	dir   string
	work  string
	turns int
}

func main() {
	f := &figures{}
	flag.StringVar(&f.bin, "bin", "./ebpf-bench", "the binary")
	flag.IntVar(&f.turns, "turns", 60000, "how long the program works: 60000 is about a second")
	long := flag.Int("long", 30, "how many times as long it works when shares are compared")
	n := flag.Int("n", 20, "rounds of the overhead")
	only := flag.String("only", "shares,sleeps,overhead", "what to measure")
	flag.Parse()
	if err := f.run(*only, *long, *n); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

func (f *figures) run(only string, long, n int) (err error) {
	if f.bin, err = filepath.Abs(f.bin); err != nil {
		return err
	}
	if f.dir, err = os.MkdirTemp("", "profile"); err != nil {
		return err
	}
	defer os.RemoveAll(f.dir)
	f.work = filepath.Join(f.dir, "work")
	cc := exec.Command("gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-x", "c", "-o", f.work, "-")
	cc.Stdin, cc.Stderr = bytes.NewReader(source), os.Stderr
	if err := cc.Run(); err != nil {
		return fmt.Errorf("compile the program: %w", err)
	}
	for _, what := range strings.Split(only, ",") {
		switch what {
		case "shares":
			for _, hz := range []int{99, 1000} {
				if err := f.shares(hz, long); err != nil {
					return err
				}
			}
		case "sleeps":
			err = f.sleeps()
		case "overhead":
			err = f.overhead(n)
		default:
			err = fmt.Errorf("unknown measurement %q", what)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// target starts the program, which waits until it is released.
func (f *figures) target(args ...string) (cmd *exec.Cmd, release io.Closer, out *bytes.Buffer, err error) {
	cmd, out = exec.Command(f.work, args...), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	release, err = cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	return cmd, release, out, err
}

// start is how long the profilers get to attach themselves to a program that waits.
const start = 5 * time.Second

// watch lets the program work while a profiler samples it, and returns what it printed.
func (f *figures) watch(args []string, profiler ...string) (string, error) {
	cmd, release, out, err := f.target(args...)
	if err != nil {
		return "", err
	}
	by := exec.Command(profiler[0], append(profiler[1:], strconv.Itoa(cmd.Process.Pid))...)
	var said bytes.Buffer
	by.Stdout, by.Stderr = &said, &said
	if err := by.Start(); err != nil {
		return "", err
	}
	time.Sleep(start)
	_ = release.Close() // this is the release
	if err := cmd.Wait(); err != nil {
		return "", err
	}
	if err := by.Wait(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", by.Path, err, said.String())
	}
	return out.String(), nil
}

// shares compares the shares of functions with those of perf. The two take turns: at once,
// each would sample the interrupts of the other.
func (f *figures) shares(hz, long int) error {
	theirs, ours := filepath.Join(f.dir, "perf.data"), filepath.Join(f.dir, "cpu.pb.gz")
	rate := strconv.Itoa(hz)
	work := []string{"cpu", strconv.Itoa(long * f.turns)}
	if _, err := f.watch(work, "perf", "record", "-g", "-e", "cpu-clock", "-F", rate, "-o", theirs, "-p"); err != nil {
		return err
	}
	if _, err := f.watch(work, f.bin, "profile", "--events", "cpu", "--frequency", rate, "--out", ours, "--pid"); err != nil {
		return err
	}
	perf, perfAll, err := perfShares(theirs)
	if err != nil {
		return err
	}
	own, ownAll, err := ownShares(ours)
	if err != nil {
		return err
	}
	fmt.Printf("shares at %d Hz: perf has %d samples, ebpf-bench %d\n", hz, perfAll, ownAll)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "function\tturns\tperf\tebpf-bench\tdifference\t")
	hottest := slices.SortedFunc(maps.Keys(perf), func(a, b string) int { return perf[b] - perf[a] })
	most := 0.0
	for _, name := range hottest[:min(10, len(hottest))] {
		a, b := 100*float64(perf[name])/float64(perfAll), 100*float64(own[name])/float64(ownAll)
		most = max(most, math.Abs(a-b))
		turns := "-"
		if n, ok := strings.CutPrefix(name, "work_"); ok {
			turns = n + "%"
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f%%\t%.1f%%\t%+.1f\t\n", name, turns, a, b, b-a)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("at most %.1f points apart\n\n", most)
	return nil
}

// perfShares returns the samples of each function by perf, and how many there are.
func perfShares(file string) (counts map[string]int, all int, err error) {
	out, err := exec.Command("perf", "report", "-i", file, "--stdio", "--no-children", "-g", "none", "--sort", "symbol", "-F", "sample,symbol").Output()
	if err != nil {
		return nil, 0, fmt.Errorf("perf report: %w", err)
	}
	counts = map[string]int{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasPrefix(fields[1], "[") {
			continue
		}
		n, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, 0, fmt.Errorf("perf report: %q", line)
		}
		counts[fields[2]] += n
		all += n
	}
	return counts, all, nil
}

func readProfile(file string) (*pprof.Profile, error) {
	r, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return pprof.Parse(r)
}

// ownShares is perfShares of a profile of ebpf-bench.
func ownShares(file string) (counts map[string]int, all int, err error) {
	p, err := readProfile(file)
	if err != nil {
		return nil, 0, err
	}
	counts = map[string]int{}
	for _, s := range p.Sample {
		n := int(s.Value[0])
		all += n
		if len(s.Location) > 0 {
			counts[s.Location[0].Line[0].Function.Name] += n
		}
	}
	return counts, all, nil
}

// sleeps compares the time at lines that sleep with what the program says.
func (f *figures) sleeps() error {
	ours := filepath.Join(f.dir, "off-cpu.pb.gz")
	said, err := f.watch([]string{"sleep"}, f.bin, "profile", "--events", "off-cpu", "--out", ours, "--pid")
	if err != nil {
		return err
	}
	p, err := readProfile(ours)
	if err != nil {
		return err
	}
	const offCPU = 1 // behind the number of samples
	took, samples := map[int64]int64{}, map[int64]int64{}
	for _, s := range p.Sample {
		for _, l := range s.Location {
			if l.Line[0].Function.Name == "main" {
				took[l.Line[0].Line] += s.Value[offCPU]
				samples[l.Line[0].Line] += s.Value[0]
			}
		}
	}
	fmt.Println("sleeps, at 100 Hz")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "of\tline\tslept\trecorded\tsamples\tdifference\t")
	for text := range strings.Lines(said) {
		var ms, line int64
		var slept float64
		if _, err := fmt.Sscan(text, &ms, &line, &slept); err != nil {
			return err
		}
		recorded := float64(took[line]) / 1e9
		fmt.Fprintf(w, "%d ms\t%d\t%.3f s\t%.3f s\t%d\t%+.1f%%\t\n", ms, line, slept, recorded, samples[line], 100*(recorded/slept-1))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// overhead runs the program alone and under each profiler, in turns in a random order, and
// compares what it costs in the same turn.
func (f *figures) overhead(n int) error {
	work := []string{f.work, "cpu", strconv.Itoa(f.turns)}
	data, ours := filepath.Join(f.dir, "o.data"), filepath.Join(f.dir, "o.folded")
	under := func(args ...string) []string { return append(args, work...) }
	ways := []struct {
		name string
		argv []string
	}{
		{"alone", work},
		{"perf, 100 Hz", under("perf", "record", "-g", "-e", "cpu-clock", "-F", "100", "-o", data, "--")},
		{"ebpf-bench, 100 Hz", under(f.bin, "profile", "--events", "cpu", "--frequency", "100", "--out", ours, "--")},
		{"perf, 1000 Hz", under("perf", "record", "-g", "-e", "cpu-clock", "-F", "1000", "-o", data, "--")},
		{"ebpf-bench, 1000 Hz", under(f.bin, "profile", "--events", "cpu", "--frequency", "1000", "--out", ours, "--")},
	}
	cpu, wall := make([][]float64, len(ways)), make([][]float64, len(ways))
	for range n {
		used, took := make([]float64, len(ways)), make([]float64, len(ways))
		for _, i := range rand.Perm(len(ways)) {
			cmd := exec.Command(ways[i].argv[0], ways[i].argv[1:]...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			var out bytes.Buffer
			cmd.Stdout = &out // the program's line is the first
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", ways[i].name, err)
			}
			if _, err := fmt.Sscan(out.String(), &used[i], &took[i]); err != nil {
				return fmt.Errorf("%s: %w in %q", ways[i].name, err, out.String())
			}
		}
		for i := range ways {
			cpu[i] = append(cpu[i], 100*(used[i]/used[0]-1))
			wall[i] = append(wall[i], 100*(took[i]/took[0]-1))
		}
	}
	fmt.Printf("overhead over the program alone: median and its 95%% interval of %d turns\n", n)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tuser and system time\twall time\t")
	for i := 1; i < len(ways); i++ {
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", ways[i].name, interval(cpu[i]), interval(wall[i]))
	}
	return w.Flush()
}

// interval returns the median with its interval of 95% confidence, from the order of the
// values.
func interval(values []float64) string {
	v := slices.Sorted(slices.Values(values))
	n := float64(len(v))
	reach := 1.96 * math.Sqrt(n) / 2
	low, high := max(int(math.Floor(n/2-reach)), 0), min(int(math.Ceil(n/2+reach)), len(v)-1)
	median := (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	return fmt.Sprintf("%+.1f%% (%+.1f to %+.1f)", median, v[low], v[high])
}
