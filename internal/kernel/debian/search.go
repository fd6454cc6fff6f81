package debian

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
)

// FindVersion finds the newest kernel of a version, such as 6.12, in the suite that has
// it. The error is ErrLacks if none has.
func (a Archive) FindVersion(ctx context.Context, version string) (*Kernel, error) {
	suite, err := suiteOf(version)
	switch {
	case err != nil:
		return nil, err
	case suite != "":
		return a.findVersion(ctx, suite, version)
	}
	return a.search(ctx, version)
}

// search looks for a version in the suites that move on, one after the other. The error is
// ErrLacks if none of those that answer has it.
func (a Archive) search(ctx context.Context, version string) (*Kernel, error) {
	var answers []string
	var first error
	answered := false
	for _, suite := range moving {
		k, err := a.find(ctx, suite, version)
		var lacks *lacksError
		switch {
		case err == nil:
			return k, nil
		case fetch.IsDown(err):
			// The others are on the same mirror, so do not wait for it again.
			return nil, ofSuite(suite, err)
		case errors.As(err, &lacks):
			answered = true
			answers = append(answers, fmt.Sprintf("%s has %s", suite, lacks.instead()))
		default:
			answers = append(answers, fmt.Sprintf("%s cannot be asked (%s)", suite, err))
			if first == nil {
				first = ofSuite(suite, err)
			}
		}
	}
	if !answered {
		return nil, first
	}
	return nil, noSuiteHas(version, ": "+strings.Join(answers, "; "))
}
