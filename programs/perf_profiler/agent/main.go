//go:build linux

// Agent samples all processes with the profiler of package perfprofiler and counts how often
// each function address was interrupted: the user-space half of a profiler, as small as one
// can be. With -sleep it sleeps a random time for each sample, which is the regression that
// ebpf-bench profile finds in docs/profile.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	perfprofiler "github.com/org/ebpf-bench-action/programs/perf_profiler"
)

func main() {
	frequency := flag.Uint64("frequency", 99, "samples in a second, in Hz")
	duration := flag.Duration("duration", 10*time.Second, "how long to sample")
	sleep := flag.Duration("sleep", 0, "the longest sleep for a sample")
	flag.Parse()
	if err := run(*frequency, *duration, *sleep); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(frequency uint64, duration, longest time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	p, err := perfprofiler.New(0)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Attach(frequency); err != nil {
		return err
	}
	counts := map[uint64]int{}
	if err := p.Run(ctx, func(r perfprofiler.Record) { process(counts, r, longest) }); err != nil {
		return err
	}
	fmt.Printf("%d addresses\n", len(counts))
	return nil
}

// process counts the addresses of a sample.
//
//go:noinline
func process(counts map[uint64]int, r perfprofiler.Record, longest time.Duration) {
	for _, address := range r.Stack {
		counts[address]++
	}
	if longest > 0 {
		pause(rand.N(longest))
	}
}

// pause blocks its thread. Unlike time.Sleep, which lets the thread run other goroutines,
// that is time off the CPU of the line that calls it.
func pause(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // a signal may end it early
}
