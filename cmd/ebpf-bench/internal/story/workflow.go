package story

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

const (
	// quickLine marks the line of a program that a pull request makes slow.
	quickLine = "// quick"
	slowLine  = `for (int i = 0; i < 50; i++) asm volatile("" :: "r"(i));`
)

// tryWorkflow opens two pull requests in the project in the current folder, which has two
// benchmarks, and runs the Action on both: workflow SOURCE BUILD. The first makes the program
// in SOURCE slow, the second changes README.md.
func tryWorkflow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: workflow SOURCE BUILD")
	}
	source, build := args[0], args[1]
	playGitHub(ts, false, []string{"start"})
	for name, value := range map[string]string{
		"HOME": inWork(ts, "home"), "EBPF_BENCH_BUILD": build, "EBPF_BENCH_KERNELS": "6.12",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
		// Submodules are folders here.
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always",
	} {
		ts.Setenv(name, value)
	}
	git := func(args ...string) { ts.Check(ts.Exec("git", args...)) }
	project := ts.MkAbs(".")
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "base")

	change := func(file, from, to string) {
		text := ts.ReadFile(file)
		if strings.Count(text, from) != 1 {
			ts.Fatalf("%s has %q not once", file, from)
		}
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(strings.Replace(text, from, to, 1)), 0o644))
	}
	pullRequest := func(number int, code int, title string, change func()) {
		ts.Check(ts.Chdir(project))
		git("checkout", "-q", "-b", fmt.Sprint("change-", number), "main")
		change()
		git("commit", "-q", "-a", "-m", "change")
		// Each time at the path of the last, and with what its build left elsewhere.
		checkout := inWork(ts, "checkout")
		ts.Check(os.RemoveAll(checkout))
		git("clone", "-q", "--recurse-submodules", project, checkout)
		ts.Check(ts.Chdir(checkout))
		playGitHub(ts, false, []string{"event", "pull_request", fmt.Sprint(number), "checkout:HEAD", "checkout:origin/main"})
		state := inWork(ts, fmt.Sprint("state-", number))
		ts.Setenv("EBPF_BENCH_STATE", state)
		for _, step := range []string{"plan", "build", "measure"} {
			checkExitCode(ts, false, []string{"0", "ebpf-bench", "action", step})
		}
		checkExitCode(ts, false, []string{fmt.Sprint(code), "ebpf-bench", "action", "report"})
		if report := ts.ReadFile(state + "/report.md"); !regexp.MustCompile(`(?m)^## ` + title + `$`).MatchString(report) {
			ts.Fatalf("the report is not titled %q:\n%s", title, report)
		}
	}
	pullRequest(1, 1, "❌ Regression in 1 of 2 benchmarks", func() { change(source, quickLine, slowLine) })
	pullRequest(2, 0, "✅ No regression in 2 benchmarks, all identical", func() { change("README.md", "\n", "\nMore.\n") })
}
