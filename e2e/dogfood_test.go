package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// The jobs in this repository's own CI that use the action as it is in the checkout: one
// reports on the bundled programs, the other must see the action fail for the planted
// regression.
func TestOwnWorkflow(t *testing.T) {
	testenv.Long(t, "runs a workflow")
	t.Parallel()
	testenv.Takes(t, 5*time.Minute)
	gh := newGitHub(t)
	s := newScratch(t, gh)
	s.commit("main", "ebpf-bench", ourselves(t))
	s.commit("change", "Say hello", map[string][]byte{"HELLO": []byte("Hello.\n")})
	number := s.openPullRequest("change")
	pull := s.synchronized(number, "change", here)

	use := standIns(t)
	action := act(t, gh, s, pull, append([]string{"-W", ".github/workflows/ci.yml", "-j", "action"}, use...)...)
	passed(t, action)
	tells(t, "the comment", gh.onlyComment(number).Body, "fun_xdp/fibonacci", "all identical")

	planted := act(t, gh, s, pull, append([]string{"-W", ".github/workflows/ci.yml", "-j", "planted"}, use...)...)
	if planted.code != 0 {
		t.Error("the job fails although the action did")
	}
	tells(t, "the log", planted.log, "outcome failure, verdict regression")
}

// ourselves returns the files of this repository, with a workflow that names a kernel that
// is here: the runners of GitHub can read their own.
func ourselves(t testing.TB) map[string][]byte {
	t.Helper()
	root, files := published(t), map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const workflow = ".github/workflows/ci.yml"
	text := string(files[workflow])
	for old, replacement := range map[string]string{
		"--kernel host": "--kernel " + kernel,
		"kernels: host": "kernels: \"" + kernel + "\"",
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("%s has no %q", workflow, old)
		}
		text = strings.ReplaceAll(text, old, replacement)
	}
	files[workflow] = []byte(text)
	return files
}
