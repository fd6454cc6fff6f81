package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/report/compare"
	"github.com/org/ebpf-bench-action/internal/report/measured"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// Formats are the renderers that --format names, in the order of the documentation.
type Formats[M any] []struct {
	Name   string
	Render func(io.Writer, M) error
}

// The formats of runs and of comparisons.
var (
	RunFormats = Formats[*measured.Model]{
		{"text", measured.Text},
		{"json", measured.JSON},
		{"bmf", measured.BMF},
		{"gobench", measured.GoBench},
		{"csv", measured.CSV},
	}
	CompareFormats = Formats[*compare.Model]{
		{"text", compare.Text},
		{"json", compare.JSON},
		{"markdown", func(w io.Writer, m *compare.Model) error { return compare.Markdown(w, m, 0) }},
		{"csv", compare.CSV},
		{"bmf", ofHead(measured.BMF)},
		{"gobench", ofHead(measured.GoBench)},
	}
)

// ofHead renders only the head of a comparison, as a run.
func ofHead(render func(io.Writer, *measured.Model) error) func(io.Writer, *compare.Model) error {
	return func(w io.Writer, m *compare.Model) error { return render(w, measured.New(m.HeadRuns()...)) }
}

// RegisterTables adds --format to a command whose text is a table, and --explain-columns.
func (f Formats[M]) RegisterTables(cmd *cobra.Command, t *ui.Terminal, value *string, usage string) {
	f.Register(cmd, value, usage)
	cmd.Flags().BoolVar(&t.ExplainColumns, "explain-columns", false, "say what the columns of the table mean")
}

// Register adds --format to a command.
func (f Formats[M]) Register(cmd *cobra.Command, value *string, usage string) {
	var names []string
	for _, r := range f {
		names = append(names, r.Name)
	}
	OneOf(cmd, cmd.Flags(), value, "format", "format", names, usage)
}

// Of returns the renderer with that name, or nil.
func (f Formats[M]) Of(name string) func(io.Writer, M) error {
	for _, r := range f {
		if r.Name == name {
			return r.Render
		}
	}
	return nil
}

// PrintRuns prints runs in one of RunFormats.
func PrintRuns(t *ui.Terminal, format string, runs ...*bench.Run) error {
	m := measured.New(runs...)
	m.Color, m.Brief = t.Colored(t.Stdout), !t.ExplainColumns
	m.Explained = SameStream(t.Stdout, t.Stderr)
	if err := RunFormats.Of(format)(t.Stdout, m); err != nil {
		return exit.NoMeasure(fmt.Errorf("write results: %w", err))
	}
	return nil
}

// PrintComparison prints a comparison in one of CompareFormats.
func PrintComparison(t *ui.Terminal, format string, verbose bool, m *compare.Model) error {
	m.Color, m.Columns, m.Verbose = t.Colored(t.Stdout), t.Columns(), verbose
	m.Brief = !t.ExplainColumns
	m.Explained = format == "text" && SameStream(t.Stdout, t.Stderr)
	if err := CompareFormats.Of(format)(t.Stdout, m); err != nil {
		return exit.NoMeasure(fmt.Errorf("write the comparison: %w", err))
	}
	return nil
}

// SameStream reports whether output to both writers ends up in the same place, such as a
// terminal or a log. Then errors appear right below the results.
func SameStream(a, b io.Writer) bool {
	x, ok := a.(*os.File)
	y, both := b.(*os.File)
	if !ok || !both {
		return false
	}
	first, err := x.Stat()
	if err != nil {
		return false
	}
	second, err := y.Stat()
	return err == nil && os.SameFile(first, second)
}
