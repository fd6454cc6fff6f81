package profilecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/profile/diff"
	"github.com/org/ebpf-bench-action/internal/report/profiled"
	"github.com/org/ebpf-bench-action/internal/ui"
)

const diffLong = `Compare two profiles that ebpf-bench profile --out X.pb.gz wrote, or any of pprof's: the
functions that take more or less time than before.

The base is scaled, so that recordings of different lengths can be compared: to the duration
of the head (the default, for agents that run on and on), to the total of the head (what
share of the time each function has), or not at all (for commands that do the same work and
end).

--out writes the comparison, in the format that the name of the file ends in:

  .pb.gz          for go tool pprof, as its -diff_base
  .svg, .html     the flame graph of HEAD; red is more than in BASE, blue less
  .folded         a line for each stack, with its values in BASE and HEAD`

const diffExample = `  # record, change the agent, record again, compare
  ebpf-bench profile diff before.pb.gz after.pb.gz

  # a command that does the same work each time
  ebpf-bench profile diff --scale none --out diff.svg a.pb.gz b.pb.gz`

type diffFlags struct {
	diff.Options
	out    []string
	format string
	rows   int
}

var (
	diffFormats = cli.Formats[*profiled.DiffModel]{{"text", profiled.DiffText}, {"json", profiled.DiffJSON}}
	diffFiles   = files[*diff.Diff]{
		{".pb.gz", func(w io.Writer, d *diff.Diff) error { return d.WritePprof(w) }},
		{".svg", func(w io.Writer, d *diff.Diff) error { return d.Flame().WriteSVG(w) }},
		{".html", func(w io.Writer, d *diff.Diff) error { return d.Flame().WriteHTML(w) }},
		{".folded", func(w io.Writer, d *diff.Diff) error { return d.WriteFolded(w) }},
	}
)

func newDiffCommand(t *ui.Terminal) *cobra.Command {
	f := diffFlags{format: "text"}
	cmd := &cobra.Command{
		Use:     "diff [flags] BASE HEAD",
		Short:   "Compare two profiles",
		Long:    diffLong,
		Example: diffExample,
		Args:    cli.UsageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.rows < 1 {
				return cli.UsageError(cmd, errors.New("--rows must be at least 1"))
			}
			outs, err := diffFiles.open(f.out, args)
			if err != nil {
				return cli.UsageError(cmd, err)
			}
			return f.run(cmd.Context(), t, args, outs)
		},
	}
	set := cmd.Flags()
	set.StringVar(&f.Sample, "sample", "", "compare only this `type` of values, such as cpu or off-cpu (default: all that are times)")
	cli.OneOf(cmd, set, &f.Scale, "scale", "to", diff.Scales, "what to scale BASE to: duration, total or none (default: duration if it is known)")
	set.StringSliceVarP(&f.out, "out", "o", nil, "write the comparison to this `file`; may be repeated")
	diffFormats.Register(cmd, &f.format, "what to print: text or json")
	set.IntVar(&f.rows, "rows", 10, "the length of the tables")
	return cmd
}

func (f *diffFlags) run(ctx context.Context, t *ui.Terminal, args []string, outs []output.File) error {
	base, head, err := diff.ReadBoth(ctx, args[0], args[1])
	if err != nil {
		return exit.Usage(err)
	}
	d, err := f.Compare(ctx, base, head)
	if err != nil {
		return exit.Usage(err)
	}
	m := &profiled.DiffModel{Diff: d, Color: t.Colored(t.Stdout), Columns: t.Columns(), Rows: f.rows}
	return errors.Join(exit.NoMeasure(diffFiles.write(f.out, outs, d)), exit.NoMeasure(diffFormats.Of(f.format)(t.Stdout, m)))
}

// files are the formats of --out, by what the name of the file ends in.
type files[T any] []struct {
	end   string
	write func(io.Writer, T) error
}

// open checks the files of --out.
func (f files[T]) open(names, reads []string) (outs []output.File, err error) {
	for _, name := range names {
		if f.of(name) == nil {
			var ends []string
			for _, format := range f {
				ends = append(ends, format.end)
			}
			last := len(ends) - 1
			return nil, fmt.Errorf("--out %s: the name must end in %s or %s", name, strings.Join(ends[:last], ", "), ends[last])
		}
		out, err := output.New(name, reads)
		if err != nil {
			return nil, err
		}
		outs = append(outs, out)
	}
	return outs, nil
}

func (f files[T]) write(names []string, outs []output.File, v T) error {
	var errs []error
	for i, out := range outs {
		errs = append(errs, out.Write(func(w io.Writer) error { return f.of(names[i])(w, v) }))
	}
	return errors.Join(errs...)
}

func (f files[T]) of(name string) func(io.Writer, T) error {
	for _, format := range f {
		if strings.HasSuffix(name, format.end) {
			return format.write
		}
	}
	return nil
}
