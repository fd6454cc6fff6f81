package main

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

func TestCanEmulate(t *testing.T) {
	if err := canEmulate("amd64"); err != nil {
		t.Error(err)
	}
	err := canEmulate("arm64")
	if err == nil || err.Error() != "virtual machines are x86-64, and this is arm64" || !strings.Contains(bench.Hint(err), "mode: host") {
		t.Errorf("%v, hint %q", err, bench.Hint(err))
	}
}
