// Package layers tests which packages may import which: each only what allow.txt lists for
// it, so a new package may import nothing until somebody decides.
package layers

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/org/ebpf-bench-action/"

// packages returns the packages of the module, with their imports from outside the
// standard library. Imports of tests are not restricted.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string][]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		imports := []string{}
		for _, i := range p.Imports {
			if first, _, _ := strings.Cut(i, "/"); strings.Contains(first, ".") {
				imports = append(imports, strings.TrimPrefix(i, module))
			}
		}
		all[strings.TrimPrefix(p.ImportPath, module)] = imports
	}
}

// allowed returns the lines of allow.txt: a package, a colon, and what it may import,
// packages of this module by their folders, those of others by a prefix.
func allowed(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("allow.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		name, imports, ok := strings.Cut(strings.TrimSpace(line), ":")
		if name == "" {
			continue
		}
		if _, twice := all[name]; !ok || twice {
			t.Fatalf("allow.txt: %q is not a line of a package of its own", line)
		}
		all[name] = strings.Fields(imports)
	}
	return all
}

// matches reports whether an import is the one in a line, or in a package below another
// module's.
func matches(line, imported string) bool {
	return line == imported || strings.Contains(line, ".") && strings.HasPrefix(imported, line+"/")
}

func TestPackagesImportWhatTheyMay(t *testing.T) {
	may := allowed(t)
	all := packages(t)
	for name, imports := range all {
		lines, ok := may[name]
		if !ok {
			t.Errorf("allow.txt has no line for %s: say there what it may import", name)
			continue
		}
		for _, i := range imports {
			if !slices.ContainsFunc(lines, func(l string) bool { return matches(l, i) }) {
				t.Errorf("%s must not import %s", name, i)
			}
		}
		for _, l := range lines {
			if !slices.ContainsFunc(imports, func(i string) bool { return matches(l, i) }) {
				t.Errorf("allow.txt: %s does not import %s any more", name, l)
			}
		}
	}
	for name := range may {
		if _, ok := all[name]; !ok {
			t.Errorf("allow.txt: no package %s", name)
		}
	}
}

// Measuring and judging never meet in one package: a result file connects them.
func TestMeasuringAndJudgingNeverMeet(t *testing.T) {
	all := packages(t)
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return from == to || slices.ContainsFunc(all[from], func(i string) bool { return reaches(i, to) })
	}
	judging := []string{"internal/stat", "thresholds"}
	for _, folder := range []string{"runner", "internal/workload", "internal/probe", "internal/insn"} {
		found := false
		for measuring := range all {
			if measuring != folder && !strings.HasPrefix(measuring, folder+"/") {
				continue
			}
			found = true
			for _, judge := range judging {
				if all[judge] == nil {
					t.Fatalf("no package %s", judge)
				}
				if reaches(measuring, judge) || reaches(judge, measuring) {
					t.Errorf("%s and %s must not import each other, nor by way of others", measuring, judge)
				}
			}
		}
		if !found {
			t.Errorf("no package in %s", folder)
		}
	}
}

// The section in CONTRIBUTING.md on the way of a command is true: each identifier that it
// names exists, in a package that the tool is made of.
func TestWayOfACommand(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## From a command to its exit code\n")
	section, _, _ = strings.Cut(section, "\n## ")
	cmd := exec.Command("go", "list", "-deps", "./cmd/ebpf-bench")
	cmd.Dir = "../.."
	deps, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	folders := map[string]string{}
	for _, path := range strings.Fields(string(deps)) {
		if folder, ok := strings.CutPrefix(path, module); ok {
			folders[folder[strings.LastIndexByte(folder, '/')+1:]] = folder
		}
	}
	named := regexp.MustCompile("`([a-z]+)\\.([A-Z][\\w.]*)`").FindAllStringSubmatch(section, -1)
	if len(named) < 10 {
		t.Fatalf("it names %d things", len(named))
	}
	for _, n := range named {
		if folders[n[1]] == "" {
			t.Errorf("%s: the tool has no package %s", n[0], n[1])
			continue
		}
		cmd := exec.Command("go", "doc", "-short", "./"+folders[n[1]]+"."+n[2])
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %s", n[0], out)
		}
	}
}
