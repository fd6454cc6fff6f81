package bench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Hints start in lower case, except with a name, and end without a period.
func TestHintsHaveOneStyle(t *testing.T) {
	capital := regexp.MustCompile(`^[A-Z][a-z ]`)
	name := regexp.MustCompile(`^(Debian|Linux|Go)\b`)
	seen, files := 0, token.NewFileSet()
	check := func(e ast.Expr) {
		first, last := ends(e)
		if s := literal(first); s != "" {
			seen++
			if capital.MatchString(s) && !name.MatchString(s) {
				t.Errorf("%s: hint starts with a capital: %q", files.Position(e.Pos()), s)
			}
		}
		if s := literal(last); strings.HasSuffix(s, ".") {
			t.Errorf("%s: hint ends with a period: %q", files.Position(e.Pos()), s)
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				switch calls := nameOf(n.Fun); {
				case (calls == "WithHint" || calls == "hinted") && len(n.Args) == 2:
					check(n.Args[1])
				case calls == "Hint" && len(n.Args) > 0:
					check(n.Args[0])
				}
			case *ast.KeyValueExpr:
				if nameOf(n.Key) == "Hint" {
					check(n.Value)
				}
			case *ast.AssignStmt:
				if len(n.Lhs) == 1 && strings.EqualFold(nameOf(n.Lhs[0]), "hint") {
					check(n.Rhs[0])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("found %d hints, which are too few", seen)
	}
}

// ends returns the first and the last part of an expression that makes a text.
func ends(e ast.Expr) (first, last ast.Expr) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		first, _ = ends(e.X)
		_, last = ends(e.Y)
		return first, last
	case *ast.CallExpr:
		if nameOf(e.Fun) == "Sprintf" {
			return ends(e.Args[0])
		}
	}
	return e, e
}

// literal returns a literal's text, empty for other expressions.
func literal(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, _ := strconv.Unquote(lit.Value)
		return s
	}
	return ""
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
