package uname

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
		if got := Begins(tc.release, tc.prefix); got != tc.want {
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
	slices.SortFunc(got, Compare)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if Compare("1.01-a", "1.1-a") != 0 {
		t.Error("zeros before a number count")
	}
}
