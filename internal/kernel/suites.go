package kernel

import (
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

func isSuite(name string) bool { return suiteForm.MatchString(name) }

// suiteOf is the suite that stays with the series of a version, or empty if
// the suites that move on may have it. They never go back: it is ErrUnknown for
// a version that is older, and not among those that stay.
func suiteOf(version string) (string, error) {
	var all []string
	for _, suite := range suites {
		if uname.Begins(version, suite.series) {
			return suite.name, nil
		}
		all = append(all, suite.series)
	}
	if newest := all[len(all)-1]; uname.Compare(version, newest) < 0 {
		return "", noSuiteHas(version, ", only "+strings.Join(all, ", ")+" and later ones")
	}
	return "", nil
}

// noSuiteHas is ErrUnknown for a version, and says what there is instead.
func noSuiteHas(version, instead string) error {
	return bench.WithHint(
		unknownError(fmt.Sprintf("no Debian suite has Linux %s%s", version, instead)),
		"Add a kernel of another version from .deb files, from an image with its modules, or from an OCI image.")
}
