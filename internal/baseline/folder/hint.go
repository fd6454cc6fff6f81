package folder

import (
	"cmp"
	"errors"
	"io/fs"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// hinted adds a hint to an error, unless it has one already, which is the better one.

func hinted(err error, hint string) error { return bench.WithHint(err, cmp.Or(bench.Hint(err), hint)) }

// missing replaces fs.ErrNotExist by errMissing.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errMissing
	}
	return err
}

var errMissing = errors.New("missing")

func rebuildHint(err error) error {
	return hinted(missing(err), "it derives from the run: rebuild it")
}

func removeHint(err error) error {
	return hinted(missing(err), "remove the run; the other runs are not affected")
}

func objectHint(err error) error {
	return hinted(missing(err), "save or import a run with this object again, or remove the runs that have it")
}

func tagHint(err error) error {
	return hinted(err, "remove the file, and tag the run again; until then prune keeps it")
}
