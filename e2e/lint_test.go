package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// workflows returns all workflows of this repository, including those for users to copy.
func workflows(t testing.TB) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"../.github/workflows/*.yml", "../docs/recipes/*.yml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// GitHub's own parser accepts all workflows, and the action.
func TestGitHubParses(t *testing.T) {
	t.Parallel()
	args := append([]string{"parse.mjs", "../action.yml"}, workflows(t)...)
	if out, err := exec.Command("node", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	broken := filepath.Join(t.TempDir(), "broken.yml")
	testenv.Write(t, broken, []byte("on: push\njobs: {a: {runs-on: x, steps: [{run: 'echo ${{ github. }}', nosuch: 1}]}}\n"))
	if out, err := exec.Command("node", "parse.mjs", broken).CombinedOutput(); err == nil || strings.Count(string(out), "\n") != 2 {
		t.Errorf("a broken workflow: %v\n%s", err, out)
	}
}

// The recipes name inputs and outputs that the action has.
func TestRecipesFitTheAction(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	output(t, project, "git", "init", "-q")
	copyFile(t, "../action.yml", filepath.Join(project, "action.yml"))
	for _, path := range workflows(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.ReplaceAll(string(text), "org/ebpf-bench-action@v1", "./"))
		testenv.Write(t, filepath.Join(project, ".github/workflows", filepath.Base(path)), text)
	}
	cmd := exec.Command(tool(t, "actionlint"))
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Everything that somebody else could change from one day to the next is pinned to a
// commit, except for what the recipes say to look at.
func TestPinned(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`(?m)^[ -]*uses: +(\S+)(.*)`)
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)
	for _, path := range append(workflows(t), "../action.yml") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
			recipe := strings.Contains(path, "recipes")
			switch {
			case m[1] == "./":
			case recipe && m[1] == "org/ebpf-bench-action@v1":
			case recipe && strings.Contains(m[2], "# pin it"):
			case pinned.MatchString(m[1]) && strings.HasPrefix(strings.TrimSpace(m[2]), "# v"):
			default:
				t.Errorf("%s: %s is not pinned, or does not say to what", path, m[0])
			}
		}
	}
}

// A job that runs again replaces what it uploaded: GitHub refuses a second artifact of a
// name otherwise.
func TestUploadsOverwrite(t *testing.T) {
	t.Parallel()
	found := 0
	for _, path := range workflows(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var w struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]string
				}
			}
		}
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatal(err)
		}
		for job, j := range w.Jobs {
			for _, step := range j.Steps {
				if !strings.HasPrefix(step.Uses, "actions/upload-artifact@") {
					continue
				}
				found++
				if step.With["overwrite"] != "true" {
					t.Errorf("%s: job %s uploads %s without overwrite: true", path, job, step.With["name"])
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("found %d uploads", found)
	}
}

// An image is one of Debian's own, whose tags change only for security fixes, or it is
// pinned to a digest.
func TestImages(t *testing.T) {
	t.Parallel()
	image := regexp.MustCompile(`(?m)^ +(?:container|image): *([^\s#]+)`)
	official := regexp.MustCompile(`^debian:(bookworm|trixie)$|@sha256:[0-9a-f]{64}$`)
	found := 0
	for _, path := range workflows(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range image.FindAllStringSubmatch(string(text), -1) {
			found++
			if !official.MatchString(m[1]) {
				t.Errorf("%s: the image %s is neither Debian's own nor pinned", path, m[1])
			}
		}
	}
	if found < 3 {
		t.Errorf("found %d images", found)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Write(t, to, data)
}
