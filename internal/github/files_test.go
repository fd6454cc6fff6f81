package github

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
)

// readValues reads such a file as the runner does: see
// FileCommandManager.EnvFileKeyValuePairs in actions/runner.
func readValues(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	lines := strings.Split(string(data), "\n")
	for i := 0; i < len(lines); i++ {
		equals, heredoc := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		switch {
		case lines[i] == "":
		case heredoc >= 0 && (equals < 0 || heredoc < equals):
			name, end, _ := strings.Cut(lines[i], "<<")
			var value []string
			for i++; lines[i] != end; i++ {
				value = append(value, lines[i])
			}
			values[name] = strings.Join(value, "\n")
		case equals >= 0:
			name, value, _ := strings.Cut(lines[i], "=")
			values[name] = value
		default:
			t.Fatalf("invalid line %q", lines[i])
		}
	}
	return values
}

func testFiles(t *testing.T) *Files {
	dir := t.TempDir()
	env := map[string]string{
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_ENV": filepath.Join(dir, "env"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
	}
	return FilesFromEnv(func(name string) string { return env[name] })
}

func TestNoValueSetsAnother(t *testing.T) {
	f := testFiles(t)
	names := escapetest.Names(10_000)
	values := append(names[:500:500], strings.Join(names, ""), "", "\n", "a=b\nc<<d")
	for _, value := range values {
		value = strings.ReplaceAll(value, "\x00", "")
		os.Remove(f.Output)
		if err := errors.Join(f.SetOutput("verdict", value), f.SetOutput("after", "1")); err != nil {
			t.Fatal(err)
		}
		got := readValues(t, f.Output)
		if len(got) != 2 || got["verdict"] != value || got["after"] != "1" {
			t.Errorf("%q became %q", value, got)
		}
	}
}

func TestTheDelimiterIsNeverTheSame(t *testing.T) {
	f := testFiles(t)
	for range 100 {
		if err := f.SetOutput("A", "x"); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := os.ReadFile(f.Output)
	seen := map[string]bool{}
	for _, line := range strings.Split(string(data), "\n") {
		if _, end, ok := strings.Cut(line, "<<"); ok {
			seen[end] = true
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d delimiters", len(seen))
	}
}

func TestAValueWithItsDelimiterIsRefused(t *testing.T) {
	f := testFiles(t)
	f.delimiter = func() string { return "END" }
	for _, value := range []string{"END", "a\nEND\nb=c", "xENDx"} {
		if err := f.SetOutput("a", value); !errors.Is(err, escape.ErrDelimiter) {
			t.Errorf("%q: %v", value, err)
		}
	}
	if _, err := os.Stat(f.Output); err == nil {
		t.Error("something was written")
	}
}

func TestNamesOfOutputs(t *testing.T) {
	f := testFiles(t)
	for _, name := range []string{"", "a b", "a=b", "a\nb", "a<<b", "1", "é"} {
		if f.SetOutput(name, "") == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestWithoutFilesNothingHappens(t *testing.T) {
	f := FilesFromEnv(func(string) string { return "" })
	if err := errors.Join(f.SetOutput("a", "b"), f.AddSummary("x", "y")); err != nil {
		t.Error(err)
	}
}

func TestAnEarlierWriterMayEndInALine(t *testing.T) {
	f := testFiles(t)
	if err := os.WriteFile(f.Output, []byte("before=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.SetOutput("verdict", "pass"); err != nil {
		t.Fatal(err)
	}
	if got := readValues(t, f.Output); got["before"] != "1" || got["verdict"] != "pass" {
		t.Errorf("%v", got)
	}
}

func TestSummariesShareTheLimit(t *testing.T) {
	f := testFiles(t)
	for range 4 {
		if err := f.AddSummary(longReport(20_000), more); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(f.Summary)
	if err != nil || len(data) > MaxStepSummary || len(data) < MaxStepSummary-200 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}
