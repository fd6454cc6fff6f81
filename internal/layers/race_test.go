package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// raced returns the packages of race.txt; false are those whose line begins with a minus.
func raced(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("race.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			name, not := strings.CutPrefix(line, "-")
			all[name] = !not
		}
	}
	return all
}

// concurrent reports why the goroutines of a package may share state: the first file
// that starts one or imports sync.
func concurrent(t *testing.T, dir string) (because string, tested bool) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		tested = tested || strings.HasSuffix(name, "_test.go")
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				because = name + " starts a goroutine"
			case *ast.ImportSpec:
				if path, _ := strconv.Unquote(n.Path.Value); path == "sync" || path == "sync/atomic" {
					because = name + " imports " + path
				}
			}
			return because == ""
		})
	}
	return because, tested
}

// The race detector runs the tests of every package whose goroutines may share state.
func TestRaceDetectorMissesNoPackage(t *testing.T) {
	lines := raced(t)
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Dir}}", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name := strings.TrimPrefix(path, module)
		because, tested := concurrent(t, dir)
		_, listed := lines[name]
		switch {
		case because != "" && tested && !listed:
			t.Errorf("race.txt has no line for %s: %s", name, because)
		case because == "" && listed:
			t.Errorf("race.txt: %s starts no goroutine and imports no sync", name)
		}
		delete(lines, name)
	}
	for name := range lines {
		t.Errorf("race.txt: no package %s", name)
	}
}
