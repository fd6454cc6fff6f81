package folder

import (
	"errors"
	"io/fs"
	"os"

	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// removeLeftovers removes unfinished files, and those of runs that are gone.
func removeLeftovers(root *os.Root) (int, error) {
	left, err := leftovers(root)
	if err != nil {
		return 0, err
	}
	for _, file := range left {
		if err := remove(root, file); err != nil {
			return 0, err
		}
	}
	return len(left), nil
}

// leftovers returns the paths of such files. During a save, its own files may be among
// them.
func leftovers(root *os.Root) ([]string, error) {
	var left []string
	unfinished, err := names(root, tmpDir)
	if err != nil {
		return nil, err
	}
	for _, name := range unfinished {
		if tmpForm.MatchString(name) {
			left = append(left, tmpDir+"/"+name)
		}
	}
	for _, k := range []format.Kind{format.IndexKind, format.PointsKind, format.TagKind} {
		files, err := namesOf(root, k)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			id := name
			if k.Name == format.TagKind.Name {
				id = format.TaggedRun(name)
			}
			if _, err := root.Lstat(format.RunKind.Path(id)); errors.Is(err, fs.ErrNotExist) {
				left = append(left, k.Path(name))
			}
		}
	}
	return left, nil
}
