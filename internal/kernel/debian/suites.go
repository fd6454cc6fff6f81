package debian

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/kernel/uname"
)

// suites are those of Debian that stay with the series of Linux that they were
// released with, the newest last.
var suites = []struct{ name, series string }{
	{"bullseye", "5.10"},
	{"bookworm", "6.1"},
	{"trixie", "6.12"},
}

// moving are the suites that move on to newer series. Only their indexes know
// which they have, so these are asked, the smallest first. The roles are there
// for when trixie is no longer the stable release.
var moving = []string{"trixie-backports", "stable-backports", "testing", "unstable"}

// suiteForm is a suite of Debian's main archive, by code name or by role, with
// the kind of suite behind it. The security archive is another one.
var suiteForm = regexp.MustCompile(`^((old){0,2}stable|testing|unstable|sid|experimental|buster|bullseye|bookworm|trixie|forky|duke)` +
	`(-(updates|backports|backports-sloppy|proposed-updates))?$`)

// IsSuite reports whether a name is that of a suite, by code name or by role.
func IsSuite(name string) bool { return suiteForm.MatchString(name) }

// Series are those of Linux that suites stay with, the oldest first.
func Series() (all []string) {
	for _, suite := range suites {
		all = append(all, suite.series)
	}
	return all
}

// CheckVersion is ErrLacks for a version of which is known without asking that no suite
// has it.
func CheckVersion(version string) error {
	_, err := suiteOf(version)
	return err
}

// suiteOf is the suite that stays with the series of a version, or empty if
// the suites that move on may have it. They never go back: it is ErrLacks for
// a version that is older, and not among those that stay.
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

// noSuite is an ErrLacks that no suite alone is to blame for.
type noSuite string

func (e noSuite) Error() string      { return string(e) }
func (noSuite) Is(target error) bool { return target == ErrLacks }

// noSuiteHas is ErrLacks for a version, and says what there is instead.
func noSuiteHas(version, instead string) error {
	return bench.WithHint(
		noSuite(fmt.Sprintf("no Debian suite has Linux %s%s", version, instead)),
		"Add a kernel of another version from .deb files, from an image with its modules, or from an OCI image.")
}
