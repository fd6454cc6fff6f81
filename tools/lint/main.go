// Command lint has the checks that go vet lacks, for go vet -vettool: errors that
// nobody looks at, comparisons that miss wrapped errors, values that nobody reads,
// and conversions that do nothing.
//
// A line that ends in "//nolint:NAME // why" is left alone by the check of that name.
package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/golangci/unconvert"
	"github.com/gordonklaus/ineffassign/pkg/ineffassign"
	"github.com/kisielk/errcheck/errcheck"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	unitchecker.Main(
		but(errcheck.Analyzer, harmless),
		but(errorlint.NewAnalyzer(), nil),
		but(ineffassign.Analyzer, nil),
		but(conversions, nil),
	)
}

var conversions = &analysis.Analyzer{
	Name: "unconvert",
	Doc:  "report conversions to the type that a value has",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, at := range unconvert.Run(pass) {
			for _, f := range pass.Files {
				if file := pass.Fset.File(f.Package); file.Name() == at.Filename {
					pass.Reportf(file.LineStart(at.Line), "unnecessary conversion")
				}
			}
		}
		return nil, nil
	},
}

// harmless are calls whose errors say nothing to anybody: of what is closed after
// reading, of temporary files, of printing.
var harmless = regexp.MustCompile(`\b(\w*Close|Flush|Remove|RemoveAll|Setenv|Unsetenv|Fprint|Fprintf|Fprintln)\(`)

// but is a check without what it says of tests, which have nobody to tell, where
// harmless is given, of lines that this matches, and of those that ask for it.
func but(a *analysis.Analyzer, harmless *regexp.Regexp) *analysis.Analyzer {
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		files := map[string][][]byte{}
		report := pass.Report
		pass.Report = func(d analysis.Diagnostic) {
			at := pass.Fset.Position(d.Pos)
			if _, ok := files[at.Filename]; !ok {
				data, _ := os.ReadFile(at.Filename)
				files[at.Filename] = bytes.Split(data, []byte("\n"))
			}
			var line string
			if lines := files[at.Filename]; at.Line >= 1 && at.Line <= len(lines) {
				line = string(lines[at.Line-1])
			}
			switch {
			case strings.Contains(line, "//nolint:"+a.Name+" "):
			case harmless != nil && (strings.HasSuffix(at.Filename, "_test.go") || harmless.MatchString(line)):
			default:
				report(d)
			}
		}
		return run(pass)
	}
	return a
}
