package folder

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline/format"
)

// strays reports files that do not belong to a store, except git's own.
func (v *verifier) strays(context.Context) error {
	known := []string{tmpDir, lockFile}
	for _, k := range format.Kinds {
		known = append(known, k.Dir)
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
	for _, k := range append(format.Kinds, format.Kind{Dir: tmpDir, Named: tmpForm.MatchString}) {
		all, err := names(v.root, k.Dir)
		if err != nil {
			return err
		}
		for _, name := range all {
			if !k.Named(name) && !strings.HasPrefix(name, ".git") {
				v.report(k.Path(name), errStray)
			}
		}
	}
	return nil
}

var errStray = hinted(errors.New("no file of a baseline"), "remove it: nothing refers to it")
