package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/internal/vm"
)

const objectsExample = `  # which programs of some objects load on this host
  sudo ebpf-bench selftest objects build/*.o

  # and on other kernels
  ebpf-bench selftest objects --kernel 5.10,6.12 build/*.o`

// objectsFlags are which objects are tried, and where.
type objectsFlags struct {
	machines cli.MachineFlags
	bpftool  string
	format   string
}

func newObjectsCommand(t *ui.Terminal) *cobra.Command {
	var f objectsFlags
	cmd := &cobra.Command{
		Use:     "objects [flags] OBJECT...",
		Short:   "Test whether every program loads that the kernel takes",
		Long:    "Test whether every program of the objects loads here that the kernel takes from\ncilium/ebpf, or from libbpf by bpftool, as it is. It may load here with changes,\nwhich are told, or is to have a reason why not.",
		Example: objectsExample,
		Args:    cli.UsageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.format != "text" && f.format != "json" {
				return cli.UsageError(cmd, fmt.Errorf("--format %s: it is text or json", f.format))
			}
			return f.run(cmd.Context(), t, args)
		},
	}
	f.machines.Register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.bpftool, "bpftool", "bpftool", "the bpftool to ask what libbpf loads; empty asks none")
	flags.StringVar(&f.format, "format", "text", "what to print on stdout: text or json")
	return cmd
}

func (f *objectsFlags) run(ctx context.Context, t *ui.Terminal, names []string) error {
	objects, err := readObjectFiles(names)
	if err != nil {
		return err
	}
	reports, err := f.measure(ctx, t, objects)
	print := printObjects
	if f.format == "json" {
		print = encodeTested[*objectsReport]
	}
	if len(reports) > 0 {
		err = errors.Join(print(t.Stdout, reports), err)
	}
	if err != nil {
		return exit.NoMeasure(err)
	}
	for _, r := range reports {
		if lost := r.Total.lost(); lost > 0 {
			err = errors.Join(err, fmt.Errorf("%s that Linux %s takes neither load here nor have a reason", unit.Plural(lost, "program"), r.Testbed.Kernel))
		}
	}
	if err != nil {
		return exit.Regressed(err)
	}
	return nil
}

// measure tries the objects on this host, or on the kernels that are named.
func (f *objectsFlags) measure(ctx context.Context, t *ui.Terminal, objects []objectFile) ([]*objectsReport, error) {
	kernels := f.machines.Choose(nil)
	if len(kernels) == 0 {
		r, err := tryObjects(ctx, objects, f.bpftool)
		if err != nil {
			return nil, err
		}
		return []*objectsReport{r}, nil
	}
	m, err := f.machines.Open(t, kernels)
	if err != nil {
		return nil, err
	}
	tool := map[string][]byte{}
	if f.bpftool != "" {
		if tool, err = withLibraries(ctx, f.bpftool); err != nil {
			return nil, exit.Usage(err)
		}
	}
	return fleet.Each(kernels, func(_ int, name string) (*objectsReport, error) {
		began := time.Now()
		r, err := f.onKernel(ctx, m, name, objects, tool)
		if err == nil {
			t.Say("tried on Linux %s in %.1f s", r.Testbed.Kernel, time.Since(began).Seconds())
		}
		return r, err
	})
}

// onKernel has this command do the same in a virtual machine.
func (f *objectsFlags) onKernel(ctx context.Context, m *fleet.Fleet, name string, objects []objectFile, tool map[string][]byte) (*objectsReport, error) {
	g := fleet.Guest{Files: maps.Clone(tool), At: func() string { return "loading" }}
	bpftool := ""
	for file := range tool {
		if path.Base(file) == filepath.Base(f.bpftool) {
			bpftool = file
		}
	}
	args := append([]string{"selftest", "objects", "--format", "json", "--bpftool", bpftool, "--"}, giveObjects(&g, objects)...)
	g.Args = func(vm.Mode) []string { return args }
	r, info, err := reportOf[objectsReport](ctx, m, name, g)
	if err != nil {
		return nil, err
	}
	measuredBy(&r.Testbed, info)
	r.rename(func(file string) string { return nameHere(objects, file) })
	return r, nil
}

// withLibraries reads a command with the libraries that it is linked with.
func withLibraries(ctx context.Context, command string) (map[string][]byte, error) {
	binary, err := exec.LookPath(command)
	if err != nil {
		return nil, bench.WithHint(err, "install bpftool, or ask none by --bpftool ''")
	}
	names := []string{binary}
	// It fails for a static one, which has none.
	libraries, _ := exec.CommandContext(ctx, "ldd", binary).Output()
	for field := range strings.FieldsSeq(string(libraries)) {
		if filepath.IsAbs(field) {
			names = append(names, field)
		}
	}
	objects, err := readObjectFiles(names)
	files := map[string][]byte{}
	for _, o := range objects {
		files[o.name] = o.data
	}
	return files, err
}
