package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// suites are those of Debian that kernels by version come from, each with the
// series of Linux that it has. Where two have a series, the first is asked.
var suites = []struct {
	name   string
	series []string
}{
	{"bullseye", []string{"5.10"}},
	{"bookworm", []string{"6.1"}},
	{"trixie", []string{"6.12"}},
	{"trixie-backports", []string{"6.16", "6.17", "7.2"}},
}

// suiteForm is a suite of Debian's main archive, by code name or by role, with
// the kind of suite behind it. The security archive is another one.
var suiteForm = regexp.MustCompile(`^((old){0,2}stable|testing|unstable|sid|experimental|buster|bullseye|bookworm|trixie|forky|duke)` +
	`(-(updates|backports|backports-sloppy|proposed-updates))?$`)

func isSuite(name string) bool { return suiteForm.MatchString(name) }

var seriesForm = regexp.MustCompile(`^\d+\.\d+`)

// versionForm is a series such as 6.12, or a longer beginning of a release.
var versionForm = regexp.MustCompile(`^\d+\.\d+[0-9A-Za-z.+_~-]*$`)

func isVersion(name string) bool { return versionForm.MatchString(name) }

// suiteOf is the suite that has the series of a version.
func suiteOf(version string) (string, error) {
	for _, suite := range suites {
		for _, series := range suite.series {
			if hasPrefix(version, series) {
				return suite.name, nil
			}
		}
	}
	return "", bench.WithHint(
		unknownError(fmt.Sprintf("no Debian suite has Linux %s, only %s", version, strings.Join(knownSeries(), ", "))),
		"Add a kernel of another version from .deb files, from an image with its modules, or from an OCI image.")
}

func knownSeries() (all []string) {
	for _, suite := range suites {
		all = append(all, suite.series...)
	}
	slices.SortFunc(all, compareReleases)
	return all
}
