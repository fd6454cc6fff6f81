package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// MaySave checks in advance whether files can be made in the folder, or where it would be
// made. It makes none.
func (d *Dir) MaySave() error {
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
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return bench.WithHint(fmt.Errorf("make files in %s: %w", path, err), "name a folder for the baseline by --store")
	}
	return nil
}
