// Package profilecmd implements the command ebpf-bench profile, which records with package
// profile and writes what it found.
package profilecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/exit"
	"github.com/org/ebpf-bench-action/internal/output"
	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/profile/firefox"
	"github.com/org/ebpf-bench-action/internal/profile/serve"
	"github.com/org/ebpf-bench-action/internal/report/profiled"
	"github.com/org/ebpf-bench-action/internal/ui"
)

const long = `Record where a command, a running process or the whole machine spends its time: on
the CPU, asleep or waiting for one, waiting for disks, in page faults. BPF programs take the
samples, with the stacks of user space and of the kernel, and children are followed.

It takes root. A summary is printed; --out writes the whole profile, in the format that the
name of the file ends in:

  .json.gz        for the Firefox Profiler, https://profiler.firefox.com
  .pb.gz          for go tool pprof
  .svg, .html     a flame graph that needs nothing else
  .folded         a line for each stack, for other flame graphs

Stacks are found by frame pointers. Code that keeps none, as many libraries, cuts them off:
the summary says how many, and where. With --unwind dwarf they are found by the tables that
compilers write for exceptions, on copies of the stacks, which costs more.

A goroutine that waits does not keep its thread from running another, so time.Sleep, locks
and channels of Go do not appear as off-cpu time; system calls do.`

const example = `  # a command, until it ends
  sudo ebpf-bench profile --out agent.json.gz -- ./agent --once

  # a process that runs, for ten seconds
  sudo ebpf-bench profile --pid 1234 --duration 10s

  # the whole machine, with requests to disks, as a flame graph
  sudo ebpf-bench profile --all --events cpu,disk -d 5s --out machine.svg

  # then in the browser, with source and machine code
  sudo ebpf-bench profile --serve -- ./agent --once`

type flags struct {
	pids      []int
	all       bool
	events    []string
	frequency int
	duration  time.Duration
	unwind    string
	out       []string
	rows      int
	serve     string
}

// New returns the command.
func New(t *ui.Terminal) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "profile [flags] [-- COMMAND [ARGUMENT...]]",
		Short:   "Record where a process spends its time",
		Long:    long,
		Example: example,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(args)
			if err != nil {
				return cli.UsageError(cmd, err)
			}
			outs, err := profileFiles.open(f.out, nil)
			if err != nil {
				return cli.UsageError(cmd, err)
			}
			return f.run(cmd.Context(), t, o, outs)
		},
	}
	set := cmd.Flags()
	set.IntSliceVarP(&f.pids, "pid", "p", nil, "record this running `process`, with all its threads; may be repeated")
	set.BoolVarP(&f.all, "all", "a", false, "record all processes")
	set.StringSliceVar(&f.events, "events", []string{"cpu", "off-cpu"}, "what to record: any of cpu, off-cpu, disk, faults")
	set.IntVarP(&f.frequency, "frequency", "F", 100, "samples of a running thread in a second, in `Hz`")
	set.DurationVarP(&f.duration, "duration", "d", 0, "how long to record (default: until the command or process ends, or ^C)")
	set.StringVar(&f.unwind, "unwind", profile.FramePointers.String(), "find callers by frame-pointers, or by dwarf: .eh_frame")
	set.StringSliceVarP(&f.out, "out", "o", nil, "write the profile to this `file`; may be repeated")
	set.IntVar(&f.rows, "rows", 10, "the length of the tables of the summary")
	set.StringVar(&f.serve, "serve", "", "then show the profile in the browser, until ^C, on this loopback `address`")
	set.Lookup("serve").NoOptDefVal = "127.0.0.1:0"
	cmd.AddCommand(newDiffCommand(t))
	return cmd
}

// options checks the flags.
func (f *flags) options(command []string) (profile.Options, error) {
	o := profile.Options{Command: command, PIDs: f.pids, All: f.all, Frequency: f.frequency, Duration: f.duration}
	chosen := 0
	for _, one := range []bool{len(command) > 0, len(f.pids) > 0, f.all} {
		if one {
			chosen++
		}
	}
	const most = 10_000
	switch {
	case chosen == 0:
		return o, errors.New("nothing to record: give a command after --, or --pid or --all")
	case chosen > 1:
		return o, errors.New("a command, --pid and --all cannot be combined")
	case f.frequency < 1 || f.frequency > most:
		return o, fmt.Errorf("--frequency %d: it must be from 1 to %d", f.frequency, most)
	case f.duration < 0:
		return o, errors.New("--duration must not be negative; 0 means no limit")
	case f.rows < 1:
		return o, errors.New("--rows must be at least 1")
	}
	for _, pid := range f.pids {
		if pid < 1 {
			return o, fmt.Errorf("--pid %d: a process has a number from 1 on", pid)
		}
	}
	for _, name := range f.events {
		kind, err := profile.ParseKind(strings.TrimSpace(name))
		if err != nil {
			return o, fmt.Errorf("--events %s: %w", strings.Join(f.events, ","), err)
		}
		o.Kinds = append(o.Kinds, kind)
	}
	if len(o.Kinds) == 0 {
		return o, errors.New("--events is empty")
	}
	var err error
	if o.Unwind, err = profile.ParseUnwind(f.unwind); err != nil {
		return o, fmt.Errorf("--unwind: %w", err)
	}
	return o, nil
}

func (f *flags) run(ctx context.Context, t *ui.Terminal, o profile.Options, outs []output.File) error {
	var l net.Listener
	if f.serve != "" {
		var err error
		if l, err = serve.Listen(f.serve); err != nil {
			return exit.Usage(fmt.Errorf("--serve: %w", err))
		}
		defer l.Close()
	}
	o.Stdin, o.Stdout, o.Stderr = os.Stdin, t.Stdout, t.Stderr
	p, notes, err := o.Record(ctx)
	t.Tell(notes...)
	if err != nil {
		return exit.NoMeasure(err)
	}
	written := exit.NoMeasure(profileFiles.write(f.out, outs, p))
	m := &profiled.Model{Profile: p, Color: t.Colored(t.Stdout), Columns: t.Columns(), Rows: f.rows}
	err = errors.Join(written, exit.NoMeasure(profiled.Text(t.Stdout, m)))
	if l != nil {
		err = errors.Join(err, exit.NoMeasure(show(ctx, t, l, p)))
	}
	return err
}

// show shows a profile in the browser. If ^C ended the recording, another one ends this.
func show(ctx context.Context, t *ui.Terminal, l net.Listener, p *profile.Profile) error {
	if cause := context.Cause(ctx); cause != nil && strings.HasPrefix(cause.Error(), os.Interrupt.String()) {
		var stop func()
		ctx, stop = signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
	}
	s, err := serve.New(l, p)
	if err != nil {
		return err
	}
	t.Say("the profile is at %s/", s.URL)
	t.Say("with machine code in the Firefox Profiler: %s", s.Viewer)
	t.Say("^C ends it")
	return s.Run(ctx)
}

var profileFiles = files[*profile.Profile]{
	{".json.gz", func(w io.Writer, p *profile.Profile) error {
		return firefox.Write(w, p, firefox.Options{Source: firefox.ReadSource})
	}},
	{".pb.gz", func(w io.Writer, p *profile.Profile) error { return p.WritePprof(w) }},
	{".svg", func(w io.Writer, p *profile.Profile) error { return p.Flame().WriteSVG(w) }},
	{".html", func(w io.Writer, p *profile.Profile) error { return p.Flame().WriteHTML(w) }},
	{".folded", func(w io.Writer, p *profile.Profile) error { return p.WriteFolded(w) }},
}
