package runner

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
	"github.com/org/ebpf-bench-action/runner/internal/search"
)

var (
	searchRuns = flag.Int("search-runs", 20_000, "how many inputs TestCorpusSearch tries of each program")
	searchTime = flag.Duration("search-time", 0, "how long TestCorpusSearch searches for inputs of each program, instead of by runs")
)

// searched is what a search of a program of the corpus came to.
type searched struct {
	blocks, alive, before, at10, reached int
	perSecond                            float64
	kept, moved                          int
	text                                 string
}

// A search finds inputs that reach most of each program that takes packets, and none of
// those that it keeps executes something else when it is tried again.
func TestCorpusSearch(t *testing.T) {
	var all []searched
	for _, o := range corpus(t, true) {
		read, err := object.Parse(o.data)
		if err != nil {
			continue
		}
		for _, name := range read.Programs() {
			j, err := inputsJob(o, name)
			if err != nil || j.TestRun == nil || !progrun.TakesPackets(j.ProgramSpec().Type) {
				continue
			}
			x, err := searchOf(t, j)
			awaitFree()
			if err != nil {
				t.Logf("%s %s: %s: %v", filepath.Base(o.name), name, load.Class(err), err)
				continue
			}
			t.Logf("%s %s: %s", filepath.Base(o.name), name, x.text)
			all = append(all, x)
			if x.moved > 0 {
				t.Errorf("%s %s: %d of %d kept inputs execute something else", o.name, name, x.moved, x.kept)
			}
		}
	}
	var coverage, before, fast []float64
	kept := 0
	for _, x := range all {
		coverage = append(coverage, percentage(x.reached, x.alive))
		before = append(before, percentage(x.before, x.alive))
		if kept += x.kept; x.blocks < 200 {
			fast = append(fast, x.perSecond)
		}
	}
	if len(all) == 0 {
		t.Fatal("no program takes packets")
	}
	middle := func(a []float64) float64 { slices.Sort(a); return a[len(a)/2] }
	t.Logf("Linux %s: %d programs: the median one is reached by %.1f%%, by the default packet by %.1f%%; %.0f inputs/s for those of less than 200 blocks; %d kept inputs",
		probe.Testbed().Kernel, len(all), middle(coverage), middle(before), middle(fast), kept)
}

func searchOf(t *testing.T, j *Job) (x searched, err error) {
	target, err := search.Open(t.Context(), j)
	if err != nil {
		return x, err
	}
	defer target.Close()
	var start []search.Input
	for _, frame := range j.Frames {
		start = append(start, search.Input{Packets: [][]byte{frame}})
	}
	began := time.Now()
	o := search.Options{Runs: *searchRuns, Start: start, Seed: 1, Progress: func(p search.Progress) {
		if time.Since(began) < 10*time.Second {
			x.at10 = p.Blocks
		}
	}}
	if *searchTime > 0 {
		o.Runs, o.Time = 0, *searchTime
	}
	var f *search.Found
	err = thread.WithoutSignals(func() (err error) {
		f, err = search.Search(t.Context(), target, o)
		return err
	})
	if err != nil {
		return x, err
	}
	x.perSecond = float64(f.Runs) / time.Since(began).Seconds()
	x.alive, x.before, x.reached = f.Alive.Len(), f.Before.Len(), f.Reached.Len()
	for _, p := range target.Programs() {
		x.blocks += len(p.Blocks)
	}
	if f.Alive == nil {
		x.alive = x.blocks
	}
	for _, k := range append(f.Cover, f.Worst, f.Plain) {
		if k == nil {
			continue
		}
		x.kept++
		for range 20 {
			if _, err := target.Run(t.Context(), &k.Input); err != nil || target.Counts().Total() != k.Executed {
				x.moved++
				break
			}
		}
	}
	x.text = fmt.Sprintf("%d of %d blocks alive; reached %d, after 10 s %d, at last %d; %.0f inputs/s; %d tried, %d refused, %d unsteady; default %.5g, plain %.5g, worst %.5g, cover %d; warnings %q",
		x.alive, x.blocks, x.before, x.at10, x.reached, x.perSecond, f.Runs, f.Refused, f.Unsteady, per(f.Default), per(f.Plain), per(f.Worst), len(f.Cover), target.Warnings)
	return x, nil
}

func per(k *search.Kept) float64 {
	if k == nil {
		return 0
	}
	return k.PerRun()
}
