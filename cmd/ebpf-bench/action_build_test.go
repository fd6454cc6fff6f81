package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/escape"
)

// What a build leaves behind is no failure, and a line that it does not end takes
// nothing of what is said next.
func TestBuildThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := escape.NewLogWriter(&log)
	s := &actionStep{t: newTerminal(w, w), in: &actionInputs{build: "sleep 8 & printf 'no end'"}}
	if err := s.buildIn(t.Context(), t.TempDir(), "head"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "\nno end\nebpf-bench: built the head in ") {
		t.Errorf("%s", log.String())
	}
}
