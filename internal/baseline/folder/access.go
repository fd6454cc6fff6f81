package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// MaySave checks in advance whether files can be made in the folder, or where it would be
// made, by making a folder and removing it.
func (d *Dir) MaySave() error {
	const hint = "name a folder for the baseline by --store"
	if d.path == "" {
		return bench.WithHint(errors.New("open baseline: its folder has no name"), hint)
	}
	path, err := filepath.Abs(d.path)
	if err != nil {
		return fmt.Errorf("open baseline: %w", err)
	}
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			break
		}
		path = filepath.Dir(path)
	}
	trial, err := os.MkdirTemp(path, ".ebpf-bench-*")
	if err != nil {
		// The name of the trial says nothing to the user.
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			err = e.Err
		}
		return bench.WithHint(fmt.Errorf("make files in %s: %w", path, err), hint)
	}
	return os.Remove(trial)
}
