package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
)

// kernel is the series that everything here is measured on, in exact mode.
const kernel = "6.12"

// TestMain runs nothing where the packages of npm are missing that stand in for GitHub. In
// CI that is an error.
func TestMain(m *testing.M) {
	if _, err := os.Stat("node_modules/.package-lock.json"); err != nil {
		fmt.Println("no end-to-end tests: scripts/setup test installs what they need")
		if os.Getenv("CI") != "" {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// repository returns the root of this repository.
func repository(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// output runs a command in a folder, and returns its output.
func output(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if e := (*exec.ExitError)(nil); errors.As(err, &e) {
			stderr = string(e.Stderr)
		}
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr)
	}
	return strings.TrimSpace(string(out))
}

// tool returns the path of a tool that tools/actions.mod pins.
func tool(t testing.TB, name string) string {
	t.Helper()
	return output(t, repository(t), "go", "tool", "-modfile=tools/actions.mod", "-n", name)
}

// published makes a copy of this repository as a tag would have it.
func published(t testing.TB) string {
	t.Helper()
	from, to := repository(t), filepath.Join(t.TempDir(), "action")
	files := output(t, from, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(strings.Trim(files, "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		testenv.Write(t, filepath.Join(to, name), data)
		if err := os.Chmod(filepath.Join(to, name), info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
