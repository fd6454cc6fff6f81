package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest  = regexp.MustCompile(`([\w/-]+) (Test\w+)`)
	namedStory = regexp.MustCompile(`story ([\w/]+)`)
)

// The tests that CONTRIBUTING names for a promise exist.
func TestPromisesAreTested(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, promises, ok := strings.Cut(string(text), "\n| promise | tested by |\n")
	if !ok {
		t.Fatal("CONTRIBUTING.md does not say where each promise is tested")
	}
	tests := namedTest.FindAllStringSubmatch(promises, -1)
	for _, m := range tests {
		if !hasTest(t, m[1], m[2]) {
			t.Errorf("CONTRIBUTING.md names %s of %s, which there is not", m[2], m[1])
		}
	}
	stories := namedStory.FindAllStringSubmatch(promises, -1)
	for _, m := range stories {
		dir := "../../cmd/ebpf-bench"
		name := m[1]
		if folder, story, ok := strings.Cut(name, "/"); ok {
			dir, name = filepath.Join(dir, "internal/story", folder), story
		}
		if _, err := os.Stat(filepath.Join(dir, "testdata/script", name+".txtar")); err != nil {
			t.Errorf("CONTRIBUTING.md names the story %s: %v", m[1], err)
		}
	}
	if len(tests) < 50 || len(stories) < 10 {
		t.Errorf("only %d tests and %d stories are named", len(tests), len(stories))
	}
}

// hasTest reports whether a package, below internal or not, has that test.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	for _, above := range []string{"../..", "../../internal"} {
		files, err := filepath.Glob(filepath.Join(above, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "\nfunc "+name+"(") {
				return true
			}
		}
	}
	return false
}
