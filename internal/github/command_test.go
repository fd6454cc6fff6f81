package github

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
)

// checkCommand checks that the runner reads one command, with the text and properties it
// was given and no others.
func checkCommand(t *testing.T, name string) {
	t.Helper()
	var b bytes.Buffer
	if err := Annotate(&b, []Annotation{{Level: Failure, Path: "bpf/x.c", Line: 3, Title: name, Message: name}}); err != nil {
		t.Fatal(err)
	}
	lines := escapetest.RunnerLines(strings.TrimSuffix(b.String(), "\n"))
	if len(lines) != 1 {
		t.Fatalf("%d lines: %q", len(lines), b.String())
	}
	head, data, _ := strings.Cut(strings.TrimPrefix(lines[0], "::"), "::")
	command, properties, _ := strings.Cut(head, " ")
	got := map[string]string{}
	for _, p := range strings.Split(properties, ",") {
		key, value, _ := strings.Cut(p, "=")
		got[key] = unescape(value)
	}
	delete(got, "title")
	if command != "error" || len(got) != 3 || got["file"] != "bpf/x.c" || got["line"] != "3" || got["endLine"] != "3" {
		t.Errorf("%q with %v", command, got)
	}
	// The runner prints the decoded text.
	escapetest.CheckLog(t, unescape(data))
}

func unescape(s string) string {
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(s)
}

func TestTenThousandHostileCommands(t *testing.T) {
	for _, name := range append(escapetest.Names(10_000), escapetest.Attacks...) {
		checkCommand(t, name)
		if t.Failed() {
			t.Fatalf("with the name %q", name)
		}
	}
}

func FuzzCommand(f *testing.F) { escapetest.Fuzz(f, checkCommand) }
