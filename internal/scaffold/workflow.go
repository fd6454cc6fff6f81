package scaffold

import (
	"regexp"
	"strings"
)

// Workflow holds the contents of a GitHub workflow.
type Workflow struct {
	// Config is the path of the suite file in WorkingDirectory, a folder of the
	// repository, or "" for its root.
	Config, WorkingDirectory string
	// Build makes the objects.
	Build Build
}

// Build is a way to make objects.
type Build struct {
	// Command makes them. It is run by bash in the head and in the base.
	Command string
	// Why says how it was found.
	Why string
	// Setup are commands that install further requirements on a runner that has
	// clang, Go and Rust.
	Setup []string
}

const workflowHead = `# A pull request is measured beside the commit that it is to be merged into, and
# fails when a program becomes more expensive. Written by ebpf-bench init; it is yours to
# change.
name: ebpf-bench
on: pull_request
permissions:
  contents: read
  pull-requests: write # the comment
  checks: write # the check, with annotations on the source lines
jobs:
  bench:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
        with: {persist-credentials: false}
`

// Text returns the workflow file: the README's recipe for this project.
func (f *Workflow) Text() string {
	w := &writer{}
	w.raw(workflowHead)
	if len(f.Build.Setup) > 0 {
		w.line(6, "- name: Install build dependencies")
		w.line(8, "run: |")
		for _, command := range f.Build.Setup {
			w.line(10, "%s", command)
		}
	}
	w.line(6, "- uses: org/ebpf-bench-action@v1")
	w.line(8, "with:")
	if f.WorkingDirectory != "" {
		w.line(10, "working-directory: %s", scalar(f.WorkingDirectory))
	}
	w.line(10, "config: %s", scalar(f.Config))
	command := scalar(f.Build.Command)
	if plainCommand(f.Build.Command) {
		command = f.Build.Command
	}
	w.line(10, "build: %s # %s", command, clean(f.Build.Why))
	return w.String()
}

// plainFlag matches flags that YAML reads as strings without quotes.
var plainFlag = regexp.MustCompile(`^-+[A-Za-z0-9][A-Za-z0-9_./+=-]*$`)

// plainCommand reports whether YAML reads words with spaces in between as the
// same string without quotes.
func plainCommand(s string) bool {
	words := strings.Fields(s)
	for i, word := range words {
		if !plain.MatchString(word) && (i == 0 || !plainFlag.MatchString(word)) {
			return false
		}
	}
	return len(words) > 1 && strings.Join(words, " ") == s
}
