package debian

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
)

// suites are the Debian suites that stay with the series of Linux that they were released
// with, the newest last.
var suites = []struct{ name, series string }{
	{"bullseye", "5.10"},
	{"bookworm", "6.1"},
	{"trixie", "6.12"},
}

// moving are the suites that move on to newer series. Only their indexes say which they
// have, so they are searched, the smallest first. The roles are for the time after trixie
// was the stable release.
var moving = []string{"trixie-backports", "stable-backports", "testing", "unstable"}

// suiteForm matches a suite of Debian's main archive, by code name or role, with an
// optional kind of suite after it. The security archive is another one.
var suiteForm = regexp.MustCompile(`^((old){0,2}stable|testing|unstable|sid|experimental|buster|bullseye|bookworm|trixie|forky|duke)` +
	`(-(updates|backports|backports-sloppy|proposed-updates))?$`)

// IsSuite reports whether a name is that of a suite, by code name or by role.
func IsSuite(name string) bool { return suiteForm.MatchString(name) }

// Series returns the series of Linux that suites stay with, the oldest first.
func Series() (all []string) {
	for _, suite := range suites {
		all = append(all, suite.series)
	}
	return all
}

// CheckVersion returns ErrLacks for a version that no suite has, if that is known without
// a request.
func CheckVersion(version string) error {
	_, err := suiteOf(version)
	return err
}

// suiteOf returns the suite that stays with the series of a version, or an empty string if
// the suites that move on may have it. They never go back, so the error is ErrLacks for an
// older version that no other suite stays with.
func suiteOf(version string) (string, error) {
	for _, suite := range suites {
		if uname.Begins(version, suite.series) {
			return suite.name, nil
		}
	}
	all := Series()
	if newest := all[len(all)-1]; uname.Compare(version, newest) < 0 {
		return "", noSuiteHas(version, ", only "+strings.Join(all, ", ")+" and later ones")
	}
	return "", nil
}

// ErrLacks says that Debian, or the suite that stays with a series, has no kernel of a
// version.
var ErrLacks = errors.New("no such kernel in Debian")

// noSuite is an ErrLacks that concerns all suites.
type noSuite string

func (e noSuite) Error() string      { return string(e) }
func (noSuite) Is(target error) bool { return target == ErrLacks }

// noSuiteHas returns ErrLacks for a version, and says what there is instead.
func noSuiteHas(version, instead string) error {
	return bench.WithHint(
		noSuite(fmt.Sprintf("no Debian suite has Linux %s%s", version, instead)),
		"add a kernel of another version from .deb files, from an image with its modules, or from an OCI image")
}
