package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// version is the newest kernel of a version, such as 6.12, from the suite of
// Debian that has it, or where no mirror of Debian is known, of the release.
func (s Source) version(ctx context.Context, version string) (*Kernel, error) {
	k, err := s.ofDebian(ctx, version)
	if errors.Is(err, errNoMirror) {
		return s.released(ctx, version, err)
	}
	return k, err
}

func (s Source) ofDebian(ctx context.Context, version string) (*Kernel, error) {
	suite, err := suiteOf(version)
	switch {
	case err != nil:
		return nil, err
	case suite != "":
		return s.debian(suite, version).Fetch(ctx)
	}
	return s.search(ctx, version)
}

// search asks the suites that move on, one after the other, for a version. It
// is ErrUnknown if none of those that answer has it.
func (s Source) search(ctx context.Context, version string) (*Kernel, error) {
	var answers []string
	var first error
	answered := false
	for _, suite := range moving {
		d := s.debian(suite, version).withDefaults()
		found, err := d.find(ctx)
		var lacks *lacksError
		switch {
		case err == nil:
			k, err := d.get(ctx, found)
			return k, d.explain(err)
		case isDown(err):
			// The others are on the same mirror: waiting for it again is of no use.
			return nil, d.explain(err)
		case errors.As(err, &lacks):
			answered = true
			answers = append(answers, fmt.Sprintf("%s has %s", suite, lacks.instead()))
		default:
			answers = append(answers, fmt.Sprintf("%s cannot be asked (%s)", suite, err))
			if first == nil {
				first = d.explain(err)
			}
		}
	}
	if !answered {
		return nil, first
	}
	return nil, noSuiteHas(version, ": "+strings.Join(answers, "; "))
}
