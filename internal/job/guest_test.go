package job

import "testing"

// Messages from a guest name the files of this machine, not their copies.
func TestPathsOfAGuest(t *testing.T) {
	for text, want := range map[string]string{
		"run: /suite/home/me/suite/a.sh: no such file": "run: /home/me/suite/a.sh: no such file",
		`"/base/tmp/a.o", /suite/tmp/b.o (/suite/c)`:   `"/tmp/a.o", /tmp/b.o (/c)`,
		"/suite/suite/a":                                   "/suite/a",
		"uprobe//suite/tmp/target:main":                    "uprobe//tmp/target:main",
		"./suite/a, my/suite/b, /home/me/suite/c, /suites": "./suite/a, my/suite/b, /home/me/suite/c, /suites",
	} {
		if got := outside(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
