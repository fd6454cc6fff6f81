package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/ui"
)

func TestAlreadySaidPrintsNothing(t *testing.T) {
	var stderr bytes.Buffer
	err := errors.Join(exit.Said(exit.Regression), nil)
	ui.New(&stderr, &stderr).PrintError(err)
	if exit.CodeOf(err) != exit.Regression || stderr.Len() > 0 {
		t.Errorf("exit code %d, said %q", exit.CodeOf(err), &stderr)
	}
}
