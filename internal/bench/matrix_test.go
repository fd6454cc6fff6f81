package bench

import "testing"

func TestSeries(t *testing.T) {
	for release, want := range map[string]string{
		"6.12.107+deb13-cloud-amd64": "6.12", "6.1.0-50-cloud-amd64": "6.1", "6.12": "6.12", "7.2~rc4": "7.2", "6.12-rc1": "6.12",
		"6.12rc1": "6.12rc1", "custom": "custom", "": "",
	} {
		if got := Series(release); got != want {
			t.Errorf("Series(%q) = %q, want %q", release, got, want)
		}
	}
}

func TestIsRelease(t *testing.T) {
	const release = "6.1.0-50-cloud-amd64"
	for name, want := range map[string]bool{release: true, "6.1": true, "6.1.0-50": true, "6": true, "6.1.": false, "6.1.0-5": false, "6.12": false, "": false} {
		if got := IsRelease(release, name); got != want {
			t.Errorf("IsRelease(%q, %q) = %v", release, name, got)
		}
	}
}
