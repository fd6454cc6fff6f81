package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/source"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// explainFormat is the value of explain's --format.
type explainFormat string

const explainFormats = "text, json, markdown, html, lcov, pprof"

// maxComment is how long a comment on GitHub may be, in characters.
const maxComment = 65_000

var explainRenderers = map[explainFormat]func(io.Writer, *report.Explanation) error{
	"text":     report.ExplainText,
	"json":     report.ExplainJSON,
	"markdown": func(w io.Writer, m *report.Explanation) error { return report.ExplainMarkdown(w, m, maxComment) },
	"html":     report.ExplainHTML,
	"lcov":     report.ExplainLCOV,
	"pprof":    report.ExplainPprof,
}

func (f *explainFormat) String() string { return string(*f) }
func (f *explainFormat) Type() string   { return "format" }

func (f *explainFormat) Set(s string) error {
	if explainRenderers[explainFormat(s)] == nil {
		return errors.New("it is " + strings.Replace(explainFormats, ", pprof", " or pprof", 1))
	}
	*f = explainFormat(s)
	return nil
}

// formatEnds are the formats of files by how their names end.
var formatEnds = map[string]explainFormat{
	".txt": "text", ".json": "json", ".md": "markdown", ".html": "html", ".htm": "html", ".info": "lcov", ".lcov": "lcov",
	".pb.gz": "pprof", ".pprof": "pprof",
}

func knownEnds() []string { return slices.Sorted(maps.Keys(formatEnds)) }

// formatOf is the format of a file by how its name ends, empty of one that ends
// otherwise. No file is text.
func formatOf(out string) explainFormat {
	if out == "" {
		return "text"
	}
	name := strings.ToLower(filepath.Base(out))
	for end, format := range formatEnds {
		if strings.HasSuffix(name, end) {
			return format
		}
	}
	return ""
}

// print writes to the file of --out, or to stdout.
func (f *explainFlags) print(t *ui.Terminal, out output.File, s *sides.Explained, all []*bench.Explanation) error {
	m := report.NewExplanation(all...)
	m.ByFile, m.All, m.Asm = f.sort == "file", f.all, f.asm
	m.Paths, m.Sources = source.Find(all, s.Folders()...)
	if s.Suite.Bundled {
		source.InRepository(m.Paths, all)
	}
	render := func(w io.Writer) error { return explainRenderers[f.format](w, m) }
	if out != "" {
		return out.Write(render)
	}
	m.Color, m.Columns = t.Colored(t.Stdout), t.Columns()
	m.Explained = f.format == "text" && sameStream(t.Stdout, t.Stderr)
	if err := render(t.Stdout); err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	return nil
}

// explainSort is the value of --sort.
type explainSort string

func (s *explainSort) String() string { return string(*s) }
func (s *explainSort) Type() string   { return "order" }

func (s *explainSort) Set(v string) error {
	if v != "hot" && v != "file" {
		return errors.New("it is hot or file")
	}
	*s = explainSort(v)
	return nil
}
