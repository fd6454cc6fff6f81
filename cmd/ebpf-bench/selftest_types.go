package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/vm"
	"github.com/org/ebpf-bench-action/programs/sections"
	"github.com/org/ebpf-bench-action/runner"
)

const typesExample = `  # this host
  sudo ebpf-bench selftest types

  # a table of this host and two other kernels
  sudo ebpf-bench selftest types --here --kernel 5.10,6.12 --format markdown`

// typesFlags are on which kernels to try which programs can be measured.
type typesFlags struct {
	machines cli.MachineFlags
	here     bool
	exact    bool
	format   string
}

func newTypesCommand(t *ui.Terminal) *cobra.Command {
	var f typesFlags
	cmd := &cobra.Command{
		Use:     "types",
		Short:   "Find out which types of programs can be measured",
		Long:    "Measure a program of each type, by the driver that it takes unless a suite says\notherwise, and say which one that is, or why it is not measured.",
		Example: typesExample,
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains([]string{"text", "markdown", "json"}, f.format) {
				return cli.UsageError(cmd, fmt.Errorf("--format %s: it is text, markdown or json", f.format))
			}
			return f.run(cmd.Context(), t)
		},
	}
	f.machines.Register(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.here, "here", false, "also measure on this host where kernels are named")
	flags.StringVar(&f.format, "format", "text", "what to print on stdout: text, markdown or json")
	flags.BoolVar(&f.exact, "exact", false, "the clock counts instructions")
	_ = flags.MarkHidden("exact")
	return cmd
}

func (f *typesFlags) run(ctx context.Context, t *ui.Terminal) error {
	kernels := f.machines.Choose(nil)
	var reports []*typesReport
	if f.here || len(kernels) == 0 {
		r, err := f.onHost(ctx)
		if err != nil {
			return exit.NoMeasure(err)
		}
		reports = append(reports, r)
	}
	if len(kernels) > 0 {
		m, err := f.machines.Open(t, kernels)
		if err != nil {
			return err
		}
		more, err := fleet.Each(kernels, func(_ int, name string) (*typesReport, error) { return typesOnKernel(ctx, m, name) })
		if err != nil {
			return exit.NoMeasure(err)
		}
		reports = append(reports, more...)
	}
	switch f.format {
	case "json":
		enc := json.NewEncoder(t.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(reports)
	case "markdown":
		return printTypesMarkdown(t.Stdout, reports)
	}
	return printTypes(t.Stdout, reports)
}

// onHost measures a benchmark for each section, each on its own: one that fails
// must not keep the others from being measured.
func (f *typesFlags) onHost(ctx context.Context) (*typesReport, error) {
	data := sections.Object()
	o, err := object.Parse(data)
	if err != nil {
		return nil, err
	}
	section := func(program string) string { return o.Entry(program).SectionName }
	names := o.Programs()
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(section(a), section(b)) })
	options := runner.Options{Tool: version(), Rounds: 4, Loads: 1, Seed: 1}
	if f.exact {
		options.Mode = bench.ModeExact
	}
	report := &typesReport{}
	for _, name := range names {
		r, run, err := measureType(ctx, data, name, section(name), options)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", section(name), err)
		}
		r.Section, r.Program = section(name), name
		report.Types = append(report.Types, *r)
		if run != nil {
			report.Testbed = run.Testbed
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// measureType measures a program by the driver that it takes by itself.
func measureType(ctx context.Context, object []byte, program, section string, o runner.Options) (*typeResult, *bench.Run, error) {
	text := "version: 1\nobjects: [o.o]\nbenchmarks:\n  - {name: it, program: " + program + hookOf(section) + "}\n"
	s, err := suite.Load(memoryFS(map[string][]byte{"types.yml": []byte(text), "o.o": object}), "types.yml")
	if err != nil {
		return nil, nil, err
	}
	plan, err := runner.NewPlan(s)
	if err != nil {
		return &typeResult{Why: strings.TrimPrefix(err.Error(), `types.yml:4: benchmark "it": `)}, nil, nil
	}
	run, err := runner.Measure(ctx, plan, o)
	if err != nil {
		return nil, nil, err
	}
	r := &run.Results[0]
	found := &typeResult{Type: r.Type, Driver: r.Driver, Runs: r.Rounds.Runs(), Why: r.Error}
	for _, w := range r.Warnings {
		if why, ok := strings.CutPrefix(w, runner.NotRun); ok {
			found.Why = why
		}
	}
	return found, run, nil
}

// userCode is what a probe in user space is attached to: each start of this tool
// runs it once.
const userCode = ":runtime.schedinit"

// hookOf is what a benchmark of a section says of its hook where the section
// cannot: code in user space is this tool's own, which a command starts.
func hookOf(section string) string {
	self, err := os.Executable()
	if err != nil || !strings.HasPrefix(section, "uprobe") && !strings.HasPrefix(section, "uretprobe") {
		return ""
	}
	return fmt.Sprintf(", command: {attach: %q, run: [%q, version]}", section+"/"+self+userCode, self)
}

// typesOnKernel has this command do the same in a virtual machine.
func typesOnKernel(ctx context.Context, m *fleet.Fleet, name string) (*typesReport, error) {
	r, info, err := reportOf[typesReport](ctx, m, name, fleet.Guest{
		At: func() string { return "measuring" },
		Args: func(mode vm.Mode) []string {
			args := []string{"selftest", "types", "--format", "json"}
			if mode == vm.Exact {
				args = append(args, "--exact")
			}
			return args
		},
	})
	if err != nil {
		return nil, err
	}
	measuredBy(&r.Testbed, info)
	r.Testbed.Asked = name
	return r, nil
}

// sectionsOf are the sections of all reports, sorted.
func sectionsOf(reports []*typesReport) []string {
	all := map[string]bool{}
	for _, r := range reports {
		for _, t := range r.Types {
			all[t.Section] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
