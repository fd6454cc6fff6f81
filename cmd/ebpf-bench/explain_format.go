package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report/explain"
	"github.com/org/ebpf-bench-action/internal/sides"
	"github.com/org/ebpf-bench-action/internal/source"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// maxComment is how long a comment on GitHub may be, in characters.
const maxComment = 65_000

var explainFormats = cli.Formats[*explain.Model]{
	{"text", explain.Text},
	{"json", explain.JSON},
	{"markdown", func(w io.Writer, m *explain.Model) error { return explain.Markdown(w, m, maxComment) }},
	{"html", explain.HTML},
	{"lcov", explain.LCOV},
	{"pprof", explain.Pprof},
}

// formatEnds maps the ends of file names to formats.
var formatEnds = map[string]string{
	".txt": "text", ".json": "json", ".md": "markdown", ".html": "html", ".htm": "html", ".info": "lcov", ".lcov": "lcov",
	".pb.gz": "pprof", ".pprof": "pprof",
}

func knownEnds() []string { return slices.Sorted(maps.Keys(formatEnds)) }

// formatOf returns the format for the end of a file name, or an empty string if there is
// none. Without a file it is text.
func formatOf(out string) string {
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
	m := explain.New(all...)
	m.ByFile, m.All, m.Asm = f.sort == "file", f.all, f.asm
	m.Paths, m.Sources = source.Find(all, s.Folders()...)
	if s.Suite.Bundled {
		source.InRepository(m.Paths, all)
	}
	render := func(w io.Writer) error { return explainFormats.Of(f.format)(w, m) }
	if out != "" {
		return out.Write(render)
	}
	m.Color, m.Columns = t.Colored(t.Stdout), t.Columns()
	m.Explained = f.format == "text" && cli.SameStream(t.Stdout, t.Stderr)
	if err := render(t.Stdout); err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	return nil
}
