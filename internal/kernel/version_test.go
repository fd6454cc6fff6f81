package kernel

import (
	"slices"
	"testing"
)

func TestAVersionIsAWholeBeginning(t *testing.T) {
	for _, tc := range []struct {
		release, prefix string
		want            bool
	}{
		{"6.1.0-50-cloud-amd64", "6.1", true},
		{"6.1.0-50-cloud-amd64", "6.1.0-50-cloud-amd64", true},
		{"6.1.0-50-cloud-amd64", "6.1.0-5", false},
		{"6.12.107+deb13-cloud-amd64", "6.1", false},
		{"6.12.107+deb13-cloud-amd64", "6.12.107", true},
		{"6.12.107+deb13-cloud-amd64", "7.2", false},
	} {
		if got := hasPrefix(tc.release, tc.prefix); got != tc.want {
			t.Errorf("%s of %s: %v", tc.prefix, tc.release, got)
		}
	}
}

func TestReleasesInOrder(t *testing.T) {
	want := []string{
		"5.10.0-9-cloud", "5.10.0-32-cloud", "6.1", "6.1.0", "6.12.9", "6.12.107+deb13",
		"7.2~rc4-1", "7.2-1", "7.2.9-1~bpo13+1", "7.2.9-1", "7.2.12-1",
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareReleases)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if compareReleases("1.01-a", "1.1-a") != 0 {
		t.Error("zeros before a number count")
	}
}

func TestSuitesByVersion(t *testing.T) {
	for version, want := range map[string]string{
		"5.10":                       "bullseye",
		"6.1":                        "bookworm",
		"6.12":                       "trixie",
		"6.12.107+deb13-cloud-amd64": "trixie",
		"6.13":                       "", // which only those know that move on
		"7.3":                        "",
	} {
		if got, err := suiteOf(version); err != nil || got != want {
			t.Errorf("%s is in %s, error %v", version, got, err)
		}
	}
	for _, suite := range suites {
		if !isSuite(suite.name) {
			t.Errorf("%s is no suite", suite.name)
		}
	}
	for _, suite := range moving {
		if !isSuite(suite) {
			t.Errorf("%s is no suite", suite)
		}
	}
	_, err := suiteOf("6.11")
	wantError(t, err, "no Debian suite has Linux 6.11, only 5.10, 6.1, 6.12 and later ones")
	wantHint(t, err, "OCI image")
}
