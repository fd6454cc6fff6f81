package action

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// suiteNames returns the files that may be the suite.
func (in *inputs) suiteNames() []string {
	if in.config != "" {
		return []string{in.config}
	}
	return suite.FileNames
}

// suiteArgs returns the suite as an argument of compare, none if the input does not name it.
func (in *inputs) suiteArgs() []string {
	if in.config == "" {
		return nil
	}
	return []string{in.config}
}

// checkConfig checks that the suite exists before a build takes minutes.
func (in *inputs) checkConfig() error {
	if in.config == "" {
		return nil
	}
	if _, err := os.Stat(in.config); err != nil {
		return bench.WithHint(fmt.Errorf("input config: %w", err), "it is the path of the suite file, relative to working-directory; it must be there before the build")
	}
	return nil
}

// withBuildHint adds to an error about missing objects how they get built.
func (in *inputs) withBuildHint(err error) error {
	if !errors.Is(err, suite.ErrNoObjects) {
		return err
	}
	if in.build == "" {
		return bench.WithHint(err, "nothing was built: the input build is the command that makes the objects, such as make bpf")
	}
	return bench.WithHint(err, "the input build ended well and made none of that name: is it run in the right working-directory?")
}

// outline reads what the suite file says about the suite, whose objects need not exist
// here. It is empty if no suite is named and none has a usual name.
func (in *inputs) outline() (*suite.Outline, error) {
	for _, name := range in.suiteNames() {
		o, err := suite.ReadOutline(suite.OS, filepath.ToSlash(name))
		if in.config == "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return o, err
	}
	return &suite.Outline{}, nil
}

// limits returns the file of thresholds: the input's, else the suite's, else none.
func (in *inputs) limits() (string, error) {
	if in.thresholds != "" {
		return in.thresholds, nil
	}
	o, err := in.outline()
	if err != nil {
		return "", err
	}
	return filepath.FromSlash(o.Thresholds), nil
}
