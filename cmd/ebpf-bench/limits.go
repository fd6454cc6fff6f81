package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/thresholds"
)

// limitsOf is the file of thresholds to judge by: that of --thresholds, else the
// one that the suite names, else none. A suite that was stored names one that is
// not here.
func limitsOf(flag string, s *suite.Suite) string {
	if flag != "" || s == nil || s.Bundled {
		return flag
	}
	return filepath.FromSlash(s.ThresholdsFile())
}

// loadPolicy reads a file of thresholds.
func loadPolicy(file string, s *suite.Suite) (*thresholds.Policy, error) {
	p, err := thresholds.Load(suite.OS, filepath.ToSlash(file))
	if errors.Is(err, fs.ErrNotExist) && s != nil && filepath.FromSlash(s.ThresholdsFile()) == file {
		err = bench.WithHint(err, fmt.Sprintf("%s names it by its key thresholds", s.File))
	}
	return p, err
}

// sayIdle warns of thresholds that judge nothing.
func sayIdle(t *ui.Terminal, what string) {
	if what != "" {
		t.Warn("%s", what)
	}
}
