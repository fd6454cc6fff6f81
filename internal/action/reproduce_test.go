package action

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// The commands build both commits and compare their suites, in a clone of the repository.
// What was merged before it was measured is merged.
func TestTheCommandsReproduce(t *testing.T) {
	from, fork, on := upstream(t)
	for _, c := range []struct {
		name, prefix, mode, build string
		kernels                   []string
		base                      string
		want                      string
	}{
		{"top", ".", "exact", "git rev-parse HEAD >built", []string{"5.10", "6.12"}, fork, "compare --kernel 5.10,6.12"},
		{"below", "src/my bpf", "host", "mkdir -p 'src'\ngit rev-parse HEAD >built # the last line", []string{"host"}, fork, "compare"},
		{"merged", ".", "kvm", "git rev-parse HEAD >built", []string{"6.1"}, on.BaseSHA, "compare --vm kvm --kernel 6.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var comparisons []*bench.Comparison
			for _, kernel := range c.kernels {
				comparisons = append(comparisons, &bench.Comparison{
					Testbed: bench.Testbed{Asked: kernel}, Base: bench.Side{Commit: c.base},
					Head: bench.Side{Commit: on.HeadSHA, Merged: c.base == on.BaseSHA},
				})
			}
			s := &reporter{step: &step{in: &inputs{build: c.build, mode: c.mode, config: "a suite.yml"}, on: on}}
			script := s.reproduce(newSources(nil, "", c.prefix), comparisons)
			s.rehearsed = true
			if local := s.reproduce(newSources(nil, "", c.prefix), comparisons); strings.Contains(local, "git fetch") || !strings.HasSuffix(script, local) {
				t.Errorf("a local run fetches from nowhere, or does something else:\n%s", local)
			}
			if c.prefix != "." {
				// No commit here has folders.
				script = strings.Replace(script, "(\ncd", "mkdir -p '../base/"+c.prefix+"' '../head/"+c.prefix+"'\n(\ncd", 1)
			}
			clone := filepath.Join(t.TempDir(), "clone")
			gitIn(t, from, "clone", "-q", from, clone)
			bin := t.TempDir()
			tool := "#!/bin/sh\necho \"$@\"\nfor last; do :; done\ncat \"$(dirname \"$last\")/built\"\nprevious=\nfor arg; do before=$previous previous=$arg; done\ncat \"$(dirname \"$before\")/built\"\n"
			for name, text := range map[string]string{"ebpf-bench": tool, "sudo": "#!/bin/sh\nexec \"$@\"\n"} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil { //nolint:gosec // they are run
					t.Fatal(err)
				}
			}
			cmd := exec.Command("bash", "-euc", script)
			cmd.Dir = clone
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null",
				"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, script, out)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			lines = lines[max(0, len(lines)-3):]
			if !strings.HasPrefix(lines[0], c.want+" ../") || !strings.HasSuffix(lines[0], "/a suite.yml a suite.yml") || lines[1] != on.HeadSHA || lines[2] != c.base {
				t.Errorf("%q of\n%s\n%s", lines, script, out)
			}
			if c.base == on.BaseSHA {
				if merged := gitIn(t, filepath.Join(clone, "../head"), "rev-parse", "MERGE_HEAD"); merged != c.base {
					t.Errorf("%s is merged, not %s", merged, c.base)
				}
			}
		})
	}
}

// Nothing is proposed that is known not to reproduce.
func TestNothingToReproduce(t *testing.T) {
	_, fork, on := upstream(t)
	whole := func() (*reporter, []*bench.Comparison) {
		return &reporter{step: &step{in: &inputs{build: "make", config: "suite.yml"}, on: on}}, []*bench.Comparison{{Base: bench.Side{Commit: fork}, Head: bench.Side{Commit: on.HeadSHA}}}
	}
	if s, c := whole(); s.reproduce(newSources(nil, "", "."), c) == "" {
		t.Fatal("there are no commands")
	}
	for name, spoil := range map[string]func(*reporter, *bench.Comparison){
		"a local run":    func(s *reporter, _ *bench.Comparison) { s.on = nil },
		"no build":       func(s *reporter, _ *bench.Comparison) { s.in.build = "" },
		"no base":        func(_ *reporter, c *bench.Comparison) { c.Base.Commit = "" },
		"no commit":      func(_ *reporter, c *bench.Comparison) { c.Head.Commit = "main; rm -rf /" },
		"a suite abroad": func(s *reporter, _ *bench.Comparison) { s.in.config = "/etc/suite.yml" },
	} {
		s, c := whole()
		spoil(s, c[0])
		if got := s.reproduce(newSources(nil, "", "."), c); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Lines of files in the repository have a URL at the head's commit.
func TestLinks(t *testing.T) {
	_, _, on := upstream(t)
	in := newSources([]string{"bpf/a (1).c"}, "/w", ".")
	in.path("/w/bpf/a (1).c")
	link := (&reporter{step: &step{on: on}}).link(in)
	if got, want := link("bpf/a (1).c", 7), "https://github.com/o/r/blob/"+on.HeadSHA+"/bpf/a%20%281%29.c#L7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := link("other.c", 7); got != "" {
		t.Errorf("a file that is not in the repository: %s", got)
	}
	if (&reporter{step: &step{}}).link(in) != nil || (&reporter{step: &step{on: on, rehearsed: true}}).link(in) != nil {
		t.Error("a local run has links")
	}
}
