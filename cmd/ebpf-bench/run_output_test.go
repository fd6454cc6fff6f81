package main

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/ui"
)

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
