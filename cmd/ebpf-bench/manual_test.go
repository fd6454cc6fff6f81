package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/ebpf-bench-action/internal/ui"
)

// pages returns the man pages, by name.
func pages(t *testing.T, epoch string) map[string]string {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", epoch)
	folder := filepath.Join(t.TempDir(), "man1")
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"manual", folder}, nil, io.Discard, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[file.Name()] = string(text)
	}
	return all
}

// Every command has a page, with all of its flags, and every page is of a command.
func TestManPages(t *testing.T) {
	have := pages(t, "")
	var want []string
	var all func(*cobra.Command)
	all = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		want = append(want, name)
		for _, text := range []string{cmd.Short, `" "1" "" "ebpf-bench ` + version() + `" "ebpf-bench manual"`} {
			if !strings.Contains(have[name], text) {
				t.Errorf("%s lacks %q", name, text)
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			page := strings.NewReplacer(`\fB`, "", `\fP`, "", `\fR`, "", "`", "").Replace(have[name])
			if !f.Hidden && (!strings.Contains(page, "--"+f.Name) || !strings.Contains(page, usage)) {
				t.Errorf("%s lacks --%s: %s", name, f.Name, usage)
			}
		})
		for _, sub := range cmd.Commands() {
			all(sub)
		}
	}
	all(newRoot(ui.New(io.Discard, io.Discard)))
	slices.Sort(want)
	if names := slices.Sorted(maps.Keys(have)); !slices.Equal(names, want) {
		t.Errorf("pages %v\nwant %v", names, want)
	}
	// Markdown would join the lines of a table, and drop characters.
	for _, line := range []string{"\n  v1.2, HEAD~3          the stored run of a git revision\n", "\n.EX\n  head.o   "} {
		if !strings.Contains(have["ebpf-bench-compare.1"], line) {
			t.Errorf("ebpf-bench-compare.1 lacks %q", line)
		}
	}
	if page := have["ebpf-bench-ingest.1"]; !strings.Contains(page, "(*/s)") {
		t.Error("ebpf-bench-ingest.1 lacks (*/s)")
	}
}

// The date of a page is that of the source, wherever it is built.
func TestManPageDate(t *testing.T) {
	const lastSecondOf2025 = "1767225599"
	for name, page := range pages(t, lastSecondOf2025) {
		if !strings.Contains(page, `"1" "Dec 2025" "ebpf-bench `) {
			t.Errorf("%s: %.120s", name, page)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"manual", t.TempDir()}, nil, io.Discard, &stderr)
	if want := "SOURCE_DATE_EPOCH: \"yesterday\" is not a number of seconds"; code != 2 || !strings.Contains(stderr.String(), want) {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}
