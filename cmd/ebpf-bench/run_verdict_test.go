package main

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/thresholds"
)

// A message that says a budget is crossed must show two numbers that differ.
// What failed for the same reason on both sides, or on several kernels, is said
// once.
func TestFailuresAreFolded(t *testing.T) {
	refused := &bench.Result{Benchmark: "a", Error: "refused", Hint: "see -v", Log: "1\n2"}
	var all failureList
	for _, kernel := range []string{"6.1.0", "6.12.107"} {
		all.add(refused, "base", kernel)
		all.add(refused, "head", kernel)
	}
	all.add(&bench.Result{Benchmark: "a", Error: "another"}, "head", "6.12.107")
	all.add(&bench.Result{Benchmark: "b"}, "head", "6.12.107")
	var got []string
	for _, err := range all.errors(true, false) {
		got = append(got, err.Error())
	}
	want := []string{"a on Linux 6.1.0, 6.12.107, base and head: refused", "a on Linux 6.12.107, head: another"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if hint := bench.Hint(all.errors(true, false)[0]); hint != "see -v" {
		t.Errorf("the hint is %q", hint)
	}
}

func TestSameStream(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if !sameStream(w, w) || sameStream(w, os.NewFile(0, "stdin")) || sameStream(w, &bytes.Buffer{}) {
		t.Error("2>&1 is not told from two streams")
	}
}

func TestAlreadySaidPrintsNothing(t *testing.T) {
	var stderr bytes.Buffer
	err := errors.Join(exit.Said(exit.Regression), nil)
	ui.New(&stderr, &stderr).PrintError(err)
	if exit.CodeOf(err) != exit.Regression || stderr.Len() > 0 {
		t.Errorf("exit code %d, said %q", exit.CodeOf(err), &stderr)
	}
}

// What was asked for and not measured is still to be reckoned with.
func TestMeasuredOn(t *testing.T) {
	asked := []thresholds.Kernel{{Name: "trixie"}, {Name: "6.1"}}
	a, b := &bench.Testbed{Asked: "trixie", Kernel: "6.12.107"}, &bench.Testbed{Asked: "6.1", Kernel: "6.1.0"}
	want := []thresholds.Kernel{{Name: "trixie", Release: "6.12.107"}, {Name: "6.1", Release: "6.1.0"}}
	if got := measuredOn(asked, []*bench.Testbed{a, b}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	want = []thresholds.Kernel{{Name: "6.1", Release: "6.1.0"}, {Name: "trixie"}}
	if got := measuredOn(asked, []*bench.Testbed{b}); !reflect.DeepEqual(got, want) {
		t.Errorf("where one failed: %+v", got)
	}
}
