package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kernel is the series that everything here is measured on, in exact mode.
const kernel = "6.12"

// TestMain runs nothing unless `make e2e` asks, which the gate does. There nothing is
// skipped: anything missing is installed, or is an error.
func TestMain(m *testing.M) {
	if os.Getenv("EBPF_BENCH_E2E") == "" {
		fmt.Println("no end-to-end tests: make e2e runs them")
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

// write writes a file, and creates its folders.
func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
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
		write(t, filepath.Join(to, name), data)
		if err := os.Chmod(filepath.Join(to, name), info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
