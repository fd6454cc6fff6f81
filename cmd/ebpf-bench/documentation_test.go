package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/cmd/ebpf-bench/internal/story"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/kernel/kerneltest"
	"github.com/org/ebpf-bench-action/internal/strictyaml/schematest"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/programs"
)

// block is a fenced code block of a document.
type block struct{ language, text string }

func blocksOf(t *testing.T, document string) []block {
	t.Helper()
	text, err := os.ReadFile("../../" + document)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return blocks
}

// documents contain commands, each for the suite in the same document or an earlier one.
var documents = []string{
	"README.md", "docs/suite.md", "docs/thresholds.md", "docs/compare.md", "docs/baseline.md", "docs/explain.md",
	"docs/search.md", "docs/exact-mode.md", "docs/kernels.md", "docs/formats.md", "docs/profile.md",
}

// Every command in the documentation runs as it is written; with -short those of the
// README.
func TestDocumentedCommands(t *testing.T) {
	testenv.Root(t)
	dir := t.TempDir()
	for _, name := range []string{"fun_xdp/fun_xdp_bpfel.o", "perf_profiler/perf_profiler_bpfel.o"} {
		data, err := programs.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		testenv.Write(t, filepath.Join(dir, "bpf", filepath.Base(name)), data)
		if name == "perf_profiler/perf_profiler_bpfel.o" {
			// Two builds to compare.
			testenv.Write(t, filepath.Join(dir, "old.o"), data)
			testenv.Write(t, filepath.Join(dir, "new.o"), data)
		}
	}
	// Commands that boot virtual machines need a static binary.
	vms, binary := kerneltest.CanBoot(t), os.Args[0]
	if vms {
		binary = story.Tool(t)
	}
	if err := os.Symlink(binary, filepath.Join(dir, "ebpf-bench")); err != nil {
		t.Fatal(err)
	}
	documents, least := documents, 30
	if testing.Short() {
		documents, least = []string{"README.md"}, 5
	}
	ran := map[string]bool{}
	for _, document := range documents {
		blocks := blocksOf(t, document)
		for _, b := range blocks {
			switch {
			case b.language != "yaml":
			case strings.Contains(b.text, "\nbenchmarks:"):
				testenv.Write(t, filepath.Join(dir, "ebpf-bench.yml"), []byte(b.text))
			case strings.Contains(b.text, "\nthresholds:"):
				name, _, _ := strings.Cut(strings.TrimPrefix(b.text, "# "), "\n")
				testenv.Write(t, filepath.Join(dir, name), []byte(b.text))
			}
		}
		for _, b := range blocks {
			for line := range strings.Lines(b.text) {
				line = strings.TrimSpace(line)
				switch {
				case b.language != "sh" || ran[line]:
				case !vms && strings.Contains(line, "--kernel"):
					t.Logf("not run without QEMU and kernels: %s", line)
				default:
					ran[line] = true
					runDocumented(t, dir, line)
				}
			}
		}
	}
	if len(ran) < least {
		t.Errorf("only %d commands were found", len(ran))
	}
}

// The targets of all links in the documentation exist.
func TestDocumentedLinks(t *testing.T) {
	testenv.Host(t, "all documents")
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../docs/recipes/README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
			file, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(link[1], "://") {
				continue
			}
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			content, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s links to %s: %v", page, link[1], err)
			} else if anchor != "" && !slices.Contains(anchors(string(content)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, link[1])
			}
		}
	}
}

// anchors returns the anchors that GitHub makes from the headings of a page.
func anchors(text string) []string {
	var all []string
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

func runDocumented(t *testing.T, dir, line string) {
	line, _, _ = strings.Cut(line, "  #")
	line = strings.TrimSpace(strings.TrimPrefix(line, "sudo "))
	// Bencher itself is not here: its part is to run the command in quotes.
	if inner, ok := strings.CutPrefix(line, "bencher run --adapter json "); ok {
		line = strings.Trim(inner, `"`)
	}
	line = strings.TrimPrefix(line, "./")
	if strings.HasPrefix(line, "install ebpf-bench ") {
		return // it would replace this machine's
	}
	if target, ok := strings.CutPrefix(line, "make "); ok {
		makefile, err := os.ReadFile("../../Makefile")
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).Match(makefile) {
			t.Errorf("the Makefile has no target %q", target)
		}
		return
	}
	if !strings.HasPrefix(line, "ebpf-bench ") {
		t.Errorf("the documentation has a command that no test runs: %s", line)
		return
	}
	t.Run(line, func(t *testing.T) {
		cmd := exec.Command("sh", "-c", briefly(line))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), story.AsMain+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("%v\n%s%s", err, &stdout, &stderr)
		}
	})
}

// briefly returns a command that measures with a small budget, except one without flags,
// which takes as long as for a user. Exact mode has no budget.
func briefly(line string) string {
	if strings.Contains(line, "--kernel") {
		return line
	}
	if long := regexp.MustCompile(`--budget \S+`); long.MatchString(line) {
		return long.ReplaceAllString(line, "--budget 50ms")
	}
	if long := regexp.MustCompile(`--time \S+`); long.MatchString(line) {
		return long.ReplaceAllString(line, "--time 50ms")
	}
	if rest, ok := strings.CutPrefix(line, "ebpf-bench run "); ok {
		return "ebpf-bench run --budget 50ms --loads 2 " + rest
	}
	if rest, ok := strings.CutPrefix(line, "ebpf-bench compare "); ok {
		return "ebpf-bench compare --budget 50ms " + rest
	}
	return line
}

// The commands in docs/results-json.md run, and their output matches the schema. The two
// builds that they compare are two programs: one became slow.
func TestResultsAreAsDocumented(t *testing.T) {
	testenv.Root(t)
	testenv.Tools(t, "jq")
	dir := t.TempDir()
	if err := os.CopyFS(dir, programs.FS); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "ebpf-bench")); err != nil {
		t.Fatal(err)
	}
	object := "fun_xdp/fun_xdp_bpfel.o:fun_xdp_fibonacci"
	builds := strings.NewReplacer(
		"compare old.o new.o", "compare --suite ebpf-bench.yml --filter fibonacci_slow$ "+object+" "+object+"_slow",
		"old.o new.o", object+" "+object+"_slow",
		"ebpf-bench run", "ebpf-bench run --rounds 16 --loads 2",
	)
	for _, b := range blocksOf(t, "docs/results-json.md") {
		if b.language != "sh" {
			continue
		}
		cmd := exec.Command("sh", "-c", builds.Replace(b.text))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), story.AsMain+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code > exit.Regression || stdout.Len()+stderr.Len() == 0 && !strings.Contains(b.text, "schema") {
			t.Errorf("%sends with %d\n%s%s", b.text, code, &stdout, &stderr)
		}
	}
	for _, name := range []string{"run.json", "comparison.json", "explanation.json", "found.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := schematest.Validate(t, bench.Schema, string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
