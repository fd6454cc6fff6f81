package baseline

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// strays reports what is no file of a store. What git keeps may lie in it.
func (v *verifier) strays(context.Context) error {
	known := []string{tmpDir, lockFile}
	for _, k := range kinds {
		known = append(known, k.dir)
	}
	all, err := names(v.root, ".")
	if err != nil {
		return err
	}
	for _, name := range all {
		if !slices.Contains(known, name) && !strings.HasPrefix(name, ".git") {
			v.report(name, errStray)
		}
	}
	for _, k := range append(kinds, kind{dir: tmpDir, named: tmpForm.MatchString}) {
		all, err := names(v.root, k.dir)
		if err != nil {
			return err
		}
		for _, name := range all {
			if !k.named(name) && !strings.HasPrefix(name, ".git") {
				v.report(k.path(name), errStray)
			}
		}
	}
	return nil
}

var errStray = hinted(errors.New("no file of a baseline"), "Remove it: nothing refers to it.")
