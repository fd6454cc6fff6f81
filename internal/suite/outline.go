package suite

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// Outline holds the settings for a whole suite. Unlike the suite, it can be
// read without the objects.
type Outline struct {
	Kernels []string
	// Thresholds is the path of the thresholds file, or "".
	Thresholds string
}

// maxOutline bounds the file, in bytes: it may be a stranger's.
const maxOutline = 1 << 20

// ReadOutline reads the file alone. The error is fs.ErrNotExist if there is
// none.
func ReadOutline(fsys fs.FS, name string) (*Outline, error) {
	text, err := fs.ReadFile(fsys, name)
	if err == nil && len(text) > maxOutline {
		err = fmt.Errorf("%s: larger than %d MiB", name, maxOutline>>20)
	}
	if err != nil {
		return nil, bench.WithHint(fmt.Errorf("read suite: %w", err), "name a suite file")
	}
	var f file
	doc, err := strictyaml.Read(name, text, &f)
	if err != nil {
		return nil, err
	}
	s := &Suite{Thresholds: f.Thresholds, dir: path.Dir(name), doc: doc}
	return &Outline{Kernels: f.Kernels, Thresholds: s.ThresholdsFile()}, nil
}
