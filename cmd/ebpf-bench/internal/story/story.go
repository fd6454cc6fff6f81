// Package story runs the stories of the command line: files that show, command by command,
// what a user types and sees.
package story

import (
	"cmp"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/ebpf-bench-action/internal/kernel/kerneltest"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Run runs the stories in testdata/script with the tool as users have it, in PATH. Those
// that EBPF_BENCH_TEST_STORIES names, if it does, are all, and run with -short, too: a filter
// of go test would leave their folder behind.
func Run(t *testing.T) {
	files := files(t)
	root := canLoad(t)
	if os.Getenv("CI") != "" {
		// Stories are skipped if these are missing.
		testenv.Tools(t, "git", "dpkg-deb", "pgrep")
	}
	vms := kerneltest.CanBoot(t)
	tool, repository := Tool(t), repository(t)
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(tool)+":"+env.Getenv("PATH"))
			env.Setenv("EBPF_BENCH", tool)
			env.Setenv(AsMain, os.Getenv(AsMain))
			env.Setenv("REPOSITORY", repository)
			env.Setenv("OBJECTS", filepath.Join(repository, "cmd/ebpf-bench/testdata/objects"))
			env.Setenv("BUNDLED", filepath.Join(repository, "programs"))
			env.Setenv("HOOKS", filepath.Join(repository, "runner/testdata"))
			env.Setenv("TERM", "xterm")
			env.Values[gitHubKey{}] = &gitHub{}
			env.Values[repositoryKey{}] = repository
			// The kernels are in the cache of the user who runs the test, and tools in the
			// home.
			cache, err := os.UserCacheDir()
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("GOPATH", build.Default.GOPATH)
			env.Setenv("RUSTUP_HOME", cmp.Or(os.Getenv("RUSTUP_HOME"), os.ExpandEnv("$HOME/.rustup")))
			return err
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "quick":
				return testing.Short() && os.Getenv("EBPF_BENCH_TEST_STORIES") == "", nil
			case "root":
				return root, nil
			case "guest":
				return testenv.InGuest(), nil
			case "vm":
				return vms, nil
			case "hostkernel":
				return hasHostKernel(), nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bmf":      checkBMF,
			"bencher":  playBencher,
			"exactly":  checkExactly,
			"same":     checkSame,
			"exitcode": checkExitCode,
			"nobody":   runAsNobody,
			"run":      checkRun,
			"result":   makeResult,

			"github":     playGitHub,
			"comparison": makeComparison,
			"workflow":   tryWorkflow,

			"installkernel": installKernel,
			"registry":      serveImage,
		},
	})
}

// canLoad reports whether stories may load programs into this machine's kernel. In CI,
// which promises to run as root, they may.
func canLoad(t *testing.T) bool {
	t.Helper()
	missing, err := probe.Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	root := len(missing) == 0 && !testenv.NoHost()
	if !root && !testenv.NoHost() && os.Getenv("CI") != "" {
		testenv.Root(t)
	}
	return root
}

func files(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no stories in testdata/script: %v", err)
	}
	only := os.Getenv("EBPF_BENCH_TEST_STORIES")
	if only == "" {
		return all
	}
	names := strings.Split(only, ",")
	for _, name := range names {
		if !testenv.InGuest() && !exists(t, name) {
			t.Fatalf("EBPF_BENCH_TEST_STORIES=%s: there is no story %q", only, name)
		}
	}
	all = slices.DeleteFunc(all, func(file string) bool { return !slices.Contains(names, nameOf(file)) })
	if len(all) == 0 {
		t.Skipf("EBPF_BENCH_TEST_STORIES=%s names no story in testdata/script", only)
	}
	return all
}

// exists reports whether there is a story, in any of the folders that have some.
func exists(t *testing.T, name string) bool {
	t.Helper()
	for _, folder := range []string{"cmd/ebpf-bench", "cmd/ebpf-bench/internal/story/kernels", "cmd/ebpf-bench/internal/story/workflows"} {
		if _, err := os.Stat(filepath.Join(repository(t), folder, "testdata/script", name+".txtar")); err == nil {
			return true
		}
	}
	return false
}

func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

// AsMain is the variable of the environment that makes the binary of a test of the tool's
// package act as the tool.
const AsMain = "EBPF_BENCH_TEST_MAIN"

// Tool builds the tool so that every user and a virtual machine can run it, and returns
// its path. In a virtual machine of vmtest, which cannot build, it is the test's binary.
func Tool(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ebpf-bench-tool")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "ebpf-bench")
	if testenv.InGuest() {
		if err := os.Symlink(os.Args[0], tool); err != nil {
			t.Fatal(err)
		}
		t.Setenv(AsMain, "1")
		return tool
	}
	cmd := exec.Command("go", "build", "-o", tool, "./cmd/ebpf-bench")
	cmd.Dir = repository(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the tool: %v\n%s", err, out)
	}
	return tool
}

// repositoryKey is the key of the folder of this repository in the values of a story.
type repositoryKey struct{}

// repository returns the folder of this repository.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == "/" {
			t.Fatal("this is not within the repository")
		}
	}
}

// inRepository returns the path of one of this repository's files.
func inRepository(ts *testscript.TestScript, file string) string {
	return filepath.Join(ts.Value(repositoryKey{}).(string), file)
}
