// Package kernelcmd implements the command ebpf-bench kernel, which manages the cache of
// package kernel.
package kernelcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/fleet"
	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

const kernelSources = `A kernel is one of
  host                       the running kernel
  6.12                       a version, from the Debian suite that has it
  trixie-backports           a suite of Debian
  oci:registry/name:tag      an OCI image with /boot and /lib/modules
  a.deb [b.deb]...           Debian packages, all that the kernel is split into
  kernel.tar.zst             a packed kernel
  vmlinuz|vmlinux [modules]  an image, and the folder of its modules`

// command is the state that the subcommands share: the cache.
type command struct {
	t     *ui.Terminal
	cache string
}

// New returns the command.
func New(t *ui.Terminal) *cobra.Command {
	k := &command{t: t}
	cmd := &cobra.Command{
		Use:   "kernel",
		Short: "Manage the kernels that virtual machines boot",
		Long:  "Manage the kernels that virtual machines boot. run --kernel downloads versions\nby itself; add is for other kernels.\n\n" + kernelSources,
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&k.cache, "cache", "", cli.KernelCacheUsage)
	cmd.AddCommand(k.add(), k.list(), k.remove(), k.path(), k.pack())
	return cmd
}

func (k *command) add() *cobra.Command {
	return &cobra.Command{
		Use:     "add KERNEL",
		Short:   "Add a kernel to the cache",
		Long:    "Add a kernel to the cache, one at a time.\n\n" + kernelSources,
		Example: "  ebpf-bench kernel add 6.12\n  ebpf-bench kernel add ./bzImage ./modroot/lib/modules",
		Args:    cli.UsageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			cache, err := kernel.OpenCache(k.cache)
			if err != nil {
				return err
			}
			loaded, err := k.load(cmd.Context(), args)
			if err != nil {
				return err
			}
			entry, err := cache.Add(loaded)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(k.t.Stdout, "%s\n", ui.Clean(entry.Release))
			return err
		},
	}
}

func (k *command) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the kernels in the cache",
		Example: "  ebpf-bench kernel list",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			cache, err := kernel.OpenCache(k.cache)
			if err != nil {
				return err
			}
			entries, err := cache.List()
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(k.t.Stdout).Encode(append([]kernel.Entry{}, entries...))
			}
			table := new(grid.Grid).Left("release", "arch", "digest", "size", "added", "origin")
			for _, e := range entries {
				table.Row(grid.Words(e.Release, e.Arch, fmt.Sprintf("%.12s", e.Digest), unit.Bytes(float64(e.Size)), e.Added.Format(time.DateOnly), cli.Dash(e.Origin))...)
			}
			_, err = fmt.Fprintln(k.t.Stdout, table.Text(0, false))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (k *command) remove() *cobra.Command {
	return &cobra.Command{
		Use:     "rm NAME...",
		Short:   "Remove kernels from the cache",
		Long:    "Remove every kernel that goes by a name: a release, the beginning of one such as\n6.12, or the beginning of a digest.",
		Example: "  ebpf-bench kernel rm 6.12",
		Args:    cli.UsageArgs(cobra.MinimumNArgs(1)),

		ValidArgsFunction: k.complete(math.MaxInt, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			cache, err := kernel.OpenCache(k.cache)
			if err != nil {
				return err
			}
			var errs []error
			for _, name := range args {
				removed, err := cache.Remove(name)
				errs = append(errs, fleet.Misnamed(err))
				for _, e := range removed {
					fmt.Fprintf(k.t.Stdout, "%s\n", ui.Clean(e.Release))
				}
			}
			return errors.Join(errs...)
		},
	}
}

func (k *command) path() *cobra.Command {
	return &cobra.Command{
		Use:     "path NAME",
		Short:   "Print the path of a packed kernel",
		Example: "  ebpf-bench kernel path 6.12",
		Args:    cli.UsageArgs(cobra.ExactArgs(1)),

		ValidArgsFunction: k.complete(1, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			cache, err := kernel.OpenCache(k.cache)
			if err != nil {
				return err
			}
			path, err := cache.Path(args[0])
			if err != nil {
				return fleet.Misnamed(err)
			}
			_, err = fmt.Fprintln(k.t.Stdout, path)
			return err
		},
	}
}

func (k *command) pack() *cobra.Command {
	var out string
	var modules []string
	cmd := &cobra.Command{
		Use:   "pack KERNEL",
		Short: "Pack a kernel into one file",
		Long: "Pack a kernel, with just the modules that measuring takes, into one compressed\nfile, and print its release: what a release ships and kernel add takes. The same kernel makes the same\nbytes. One that the cache has by that name is taken from there, unless --module\nasks for more than that has.\n\n" +
			kernelSources,
		Example: "  ebpf-bench kernel pack 6.12 --out linux-6.12.tar.zst",
		Args:    cli.UsageArgs(cobra.MinimumNArgs(1)),

		ValidArgsFunction: k.complete(1, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return cli.UsageError(cmd, errors.New("--out is missing: it names the file to write"))
			}
			if _, err := output.New(out, args); err != nil {
				return exit.Usage(err)
			}
			loaded, err := k.loadToPack(cmd.Context(), args, modules)
			if err != nil {
				return err
			}
			if err := output.Replace(out, func(w io.Writer) error { return kernel.Pack(w, loaded, modules...) }); err != nil {
				return fmt.Errorf("write %s: %w", out, err)
			}
			_, err = fmt.Fprintf(k.t.Stdout, "%s\n", ui.Clean(loaded.Release))
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the `file` to write")
	cmd.Flags().StringSliceVar(&modules, "module", nil, "pack this kernel `module` too")
	return cmd
}

// load loads the kernel that words describe, and warns about missing modules.
func (k *command) load(ctx context.Context, words []string) (*kernel.Kernel, error) {
	loaded, err := kernel.Source{Progress: cli.Watch{Terminal: k.t}.Downloads(), Releases: os.Getenv(kernel.ReleasesVariable)}.Load(ctx, words...)
	if err != nil {
		return nil, fleet.Misnamed(err)
	}
	_, missing, err := loaded.Modules(fleet.Modules...)
	if err != nil {
		return nil, err
	}
	if len(missing) == len(fleet.Modules) {
		k.t.Warn("Linux %s comes without modules: benchmarks that need one, possibly %s, cannot be measured on it", loaded.Release, missing[0])
		if filepath.Ext(words[0]) == ".deb" {
			k.t.Hint("where Debian splits the kernel, they are in linux-modules-%s: give both packages together", loaded.Release)
		}
	}
	return loaded, nil
}

// loadToPack loads the kernel from the cache if that has it with the modules.
func (k *command) loadToPack(ctx context.Context, words, modules []string) (*kernel.Kernel, error) {
	if len(words) == 1 {
		cache, err := kernel.OpenCache(k.cache)
		if err != nil {
			return nil, err
		}
		cached, err := cache.Get(words[0])
		if err == nil && lacking(cached, modules) == nil {
			return cached, nil
		}
		if err != nil && !errors.Is(err, kernel.ErrNotCached) {
			return nil, err
		}
	}
	loaded, err := k.load(ctx, words)
	if err != nil {
		return nil, err
	}
	return loaded, exit.Usage(lacking(loaded, modules))
}

// lacking returns an error that names the modules that the kernel does not have.
func lacking(k *kernel.Kernel, modules []string) error {
	_, missing, err := k.Modules(modules...)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("--module: Linux %s has no module %s", k.Release, strings.Join(missing, ", "))
	}
	return err
}

// complete completes at most that many names of kernels in the cache.
func (k *command) complete(most int, after cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, after
		}
		cache, err := kernel.OpenCache(k.cache)
		if err != nil {
			return nil, after
		}
		entries, _ := cache.List()
		for _, e := range entries {
			if !slices.Contains(args, e.Release) && !slices.Contains(names, e.Release) {
				names = append(names, e.Release)
			}
		}
		return names, after
	}
}
