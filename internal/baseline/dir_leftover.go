package baseline

import (
	"errors"
	"io/fs"
	"os"
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

// leftovers is the paths of such files. While a save is under way, its own
// may be among them.
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
	for _, k := range []kind{indexKind, pointsKind, tagKind} {
		files, err := namesOf(root, k)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			id := name
			if k.name == tagKind.name {
				id = taggedRun(name)
			}
			if _, err := root.Lstat(runKind.path(id)); errors.Is(err, fs.ErrNotExist) {
				left = append(left, k.path(name))
			}
		}
	}
	return left, nil
}
