package debian

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func TestSuitesByVersion(t *testing.T) {
	for version, want := range map[string]string{
		"5.10":                       "bullseye",
		"6.1":                        "bookworm",
		"6.12":                       "trixie",
		"6.12.107+deb13-cloud-amd64": "trixie",
		"6.13":                       "", // which only suites that move on may have
		"7.3":                        "",
	} {
		if got, err := suiteOf(version); err != nil || got != want {
			t.Errorf("%s is in %s, error %v", version, got, err)
		}
	}
	for _, suite := range suites {
		if !IsSuite(suite.name) {
			t.Errorf("%s is not a suite", suite.name)
		}
	}
	for _, suite := range moving {
		if !IsSuite(suite) {
			t.Errorf("%s is not a suite", suite)
		}
	}
	_, err := suiteOf("6.11")
	imagetest.WantError(t, err, "no Debian suite has Linux 6.11, only 5.10, 6.1, 6.12 and later ones")
	imagetest.WantHint(t, err, "OCI image")
}
