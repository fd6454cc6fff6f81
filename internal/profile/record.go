//go:build linux

package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/profile/sideband"
	"github.com/org/ebpf-bench-action/internal/symbol/budget"
	perfprofiler "github.com/org/ebpf-bench-action/programs/perf_profiler"
)

// Options say what to record: one of Command, PIDs and All.
type Options struct {
	// Command is run, and recorded with what it starts until it ends.
	Command []string
	// Stdin, Stdout and Stderr are those of Command.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// PIDs are processes that run already.
	PIDs []int
	// All records every process.
	All bool
	// Frequency is that of the samples of a running thread, in Hz.
	Frequency int
	// Duration is how long to record; 0 is until the context is done, or the command or all
	// of PIDs have ended. A command that still runs then is ended.
	Duration time.Duration
	Kinds    []Kind
	// Unwind is how the callers of functions in user space are found.
	Unwind Unwind
}

// recording is a profile under way.
type recording struct {
	Options
	tracer  *perfprofiler.Tracer
	side    *sideband.Reader
	known   *processes
	events  []event
	samples []sampled
	room    *budget.Budget  // for events and samples
	lost    map[Kind]uint64 // samples for which there was no room
	begun   uint64          // of CLOCK_MONOTONIC, in nanoseconds

	mu         sync.Mutex // while events are read and stacks unwound: of known and events
	lostEvents uint64     // for which there was no room
	unwinder   *unwinder  // nil if stacks are not unwound here
}

// Record records until the context is done, or what the options say. Notes say what may be
// wrong with the profile.
func (o Options) Record(ctx context.Context) (*Profile, []bench.Note, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if err := probe.NotStuck(ctx); err != nil {
		return nil, nil, err
	}
	r := newRecording(o)
	if err := r.open(); err != nil {
		return nil, nil, errors.Join(err, r.close())
	}
	p, notes, err := r.record(ctx)
	return p, notes, errors.Join(err, r.close())
}

// maxRecorded bounds the samples and events of a recording, in bytes: some million.
const maxRecorded = 2 << 30

func newRecording(o Options) *recording {
	return &recording{Options: o, known: newProcesses(o.All), room: budget.New(maxRecorded), lost: map[Kind]uint64{}}
}

func (o *Options) check() error {
	if err := inInitialNamespace(); err != nil {
		return err
	}
	for _, pid := range o.PIDs {
		if err := unix.Kill(pid, 0); errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("process %d does not exist", pid)
		}
	}
	return nil
}

// inInitialNamespace refuses a PID namespace in which processes have other numbers than
// those that the kernel's programs see. The number of the initial one is PROC_PID_INIT_INO
// of linux/proc_ns.h.
func inInitialNamespace() error {
	const initial = "pid:[4026531836]"
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return fmt.Errorf("read the PID namespace: %w", err)
	}
	if name != initial {
		return bench.WithHint(errors.New("this process is in a PID namespace of its own, where the kernel numbers processes differently"),
			"profile from outside the container: it sees the processes inside; or run the container with --pid=host")
	}
	return nil
}

func (r *recording) open() (err error) {
	if r.side, err = sideband.Open(); err != nil {
		return forbidden(err)
	}
	if _, err := btf.LoadKernelSpec(); err != nil {
		return bench.WithHint(fmt.Errorf("read the types of the kernel: %w", err), "take a kernel with CONFIG_DEBUG_INFO_BTF, as those of the distributions are: it has /sys/kernel/btf/vmlinux")
	}
	kinds := make([]perfprofiler.Kind, len(r.Kinds))
	for i, kind := range r.Kinds {
		kinds[i] = perfprofiler.Kind(kind)
	}
	r.tracer, err = perfprofiler.NewTracer(perfprofiler.TraceOptions{
		Kinds: kinds, All: r.All, Interval: time.Second / time.Duration(r.Frequency), Copies: r.Unwind == DWARF,
	})
	if errors.Is(err, perfprofiler.ErrNoCopies) {
		err = bench.WithHint(fmt.Errorf("--unwind %s: %w", r.Unwind, err), "it takes Linux 5.15 on amd64; --unwind "+FramePointers.String()+" does not")
	}
	return forbidden(err)
}

func (r *recording) close() (err error) {
	if r.tracer != nil {
		err = r.tracer.Close()
	}
	if r.side != nil {
		err = errors.Join(err, r.side.Close())
	}
	return errors.Join(err, r.known.close())
}

func (r *recording) record(ctx context.Context) (*Profile, []bench.Note, error) {
	run, pids, err := r.start()
	if err != nil {
		return nil, nil, err
	}
	if run != nil {
		defer run.end()
	}
	for _, pid := range pids {
		if ctx.Err() != nil {
			break
		}
		r.known.read(pid)
		if err := r.tracer.Add(uint32(pid)); err != nil {
			return nil, nil, err
		}
	}
	if r.Unwind == DWARF {
		r.unwinder = newUnwinder(r.known)
	}
	if err := r.tracer.Attach(); err != nil {
		return nil, nil, forbidden(err)
	}
	start := time.Now()
	r.begun = perfprofiler.Now()
	if run != nil {
		if err := run.release(); err != nil {
			return nil, nil, err
		}
	}

	if r.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Duration)
		defer cancel()
	}
	ctx, ended := context.WithCancel(ctx)
	defer ended()
	failed := make(chan error, 2)
	var readers sync.WaitGroup
	readers.Go(func() { failed <- r.side.Run(ctx, r.happened) })
	readers.Go(func() {
		failed <- r.tracer.Run(ctx, r.sampled)
	})
	var notes []bench.Note
	if run != nil {
		notes = run.wait(ctx)
		ended()
	} else {
		r.waitForAll(ctx, pids)
		ended()
	}
	readers.Wait()
	if r.unwinder != nil {
		r.unwind(len(r.unwinder.waiting))
	}
	took := time.Since(start)
	if err := errors.Join(<-failed, <-failed); err != nil {
		return nil, nil, err
	}
	p, more, err := r.profile(start, took)
	return p, append(notes, more...), err
}

// start starts the command, stopped before its first instruction, and returns the processes
// to record.
func (r *recording) start() (*command, []int, error) {
	switch {
	case r.All:
		pids, err := allProcesses()
		return nil, pids, err
	case len(r.Command) == 0:
		return nil, r.PIDs, nil
	}
	run, err := startStopped(&r.Options)
	if err != nil {
		return nil, nil, err
	}
	return run, []int{run.cmd.Process.Pid}, nil
}

// happened keeps an event, and opens the file of a mapping while it can be found.
func (r *recording) happened(e sideband.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, ok := r.known.see(e)
	switch {
	case !ok:
	case r.room.Take(uint64(unsafe.Sizeof(seen)) + uint64(len(e.Name)+len(e.Mapping.Path))):
		r.events = append(r.events, seen)
	default:
		r.lostEvents++
	}
}

// waitForAll waits until all of the processes have ended, or ctx is done. One that has ended
// and waits for its parent to ask has ended.
func (r *recording) waitForAll(ctx context.Context, pids []int) {
	if r.All {
		<-ctx.Done()
		return
	}
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has ended, and its parent knows
		}
		const patience = 50 // ms
		ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for ctx.Err() == nil && ended[0].Revents == 0 {
			if _, err := unix.Poll(ended, patience); err != nil && !errors.Is(err, unix.EINTR) {
				break
			}
		}
		_ = unix.Close(fd) // nothing was written
	}
}

// profile names what was recorded.
func (r *recording) profile(start time.Time, took time.Duration) (*Profile, []bench.Note, error) {
	machine := probe.Testbed()
	p := &Profile{
		Kernel: machine.Kernel, CPU: machine.CPU,
		Command: r.Command, PIDs: r.PIDs, Start: start, Duration: took, Frequency: r.Frequency, Unwind: r.Unwind, Sources: map[Kind]string{}, Lost: map[Kind]uint64{},
		LostMappings: r.side.Lost() + r.lostEvents,
	}
	for kind, source := range r.tracer.Sources() {
		p.Sources[Kind(kind)] = source
	}
	lost, err := r.tracer.Lost()
	if err != nil {
		return nil, nil, err
	}
	for kind, n := range lost {
		p.Lost[Kind(kind)] = n + r.lost[Kind(kind)]
	}
	notes := r.resolve(p)
	return p, append(notes, p.problems()...), nil
}

// resolve replays what happened to the processes, and names each sample by what was mapped
// at its time.
func (r *recording) resolve(p *Profile) []bench.Note {
	slices.SortStableFunc(r.samples, func(a, b sampled) int { return cmp.Compare(a.Time, b.Time) })
	slices.SortStableFunc(r.events, func(a, b event) int { return cmp.Compare(a.Time, b.Time) })
	n := newNamer(r.known)
	threads := map[threadKey]*Thread{}
	next := 0
	for _, s := range r.samples {
		for next < len(r.events) && r.events[next].Time <= s.Time {
			r.known.apply(r.events[next])
			next++
		}
		key := threadKey{s.PID, s.TID}
		t := threads[key]
		if t == nil {
			t = &Thread{PID: s.PID, TID: s.TID}
			threads[key] = t
			p.Threads = append(p.Threads, t)
		}
		t.Name = s.Comm
		if name := r.known.name(s.PID); name != "" {
			t.Process = name
		} else if t.Process == "" || s.TID == s.PID {
			t.Process = s.Comm
		}
		p.Samples = append(p.Samples, r.sample(s.Sample, t, n.stack(s)))
	}
	if r.known.budget.Exceeded() {
		n.notes = append(n.notes, bench.Note{
			Warn: true, Text: fmt.Sprintf("some functions have no names: the symbols and debug information of what ran take more than %d GiB", budget.Default>>30),
			Hint: "record fewer processes at once",
		})
	}
	if n.room.Exceeded() {
		n.notes = append(n.notes, bench.Note{
			Warn: true, Text: fmt.Sprintf("some stacks have only their innermost function: all stacks take more than %d GiB", maxStacks>>30),
			Hint: "record for a shorter time, or with a lower --frequency",
		})
	}
	return append(n.notes, r.known.notes()...)
}

type threadKey struct{ pid, tid uint32 }

func (r *recording) sample(s perfprofiler.Sample, t *Thread, stack *Stack) Sample {
	const minorBits = 20
	out := Sample{Kind: Kind(s.Kind), Thread: t, Took: time.Duration(s.NS), Stack: stack, Preempted: s.Preempted, Address: s.Address, FromFile: s.FromFile}
	if s.Time > r.begun {
		out.Time = time.Duration(s.Time - r.begun)
	}
	switch out.Kind {
	case CPU:
		out.Took = time.Second / time.Duration(r.Frequency)
	case Disk:
		out.Request = &Request{Major: s.Device >> minorBits, Minor: s.Device & (1<<minorBits - 1), Sector: s.Sector, Bytes: s.Bytes, Write: s.Write}
	}
	return out
}

// problems says what is wrong with a profile.
func (p *Profile) problems() (notes []bench.Note) {
	if len(p.Samples) == 0 {
		notes = append(notes, bench.Note{Warn: true, Text: "not one sample was taken", Hint: "record longer, or with a higher --frequency"})
	}
	for kind := range Kinds {
		if n := p.Lost[kind]; n > 0 {
			_, have := p.Total(kind)
			notes = append(notes, bench.Note{
				Warn: true, Text: fmt.Sprintf("%d of %d %s samples were lost, because the buffer was full", n, n+uint64(have), kind),
				Hint: "lower --frequency, or record fewer kinds of events",
			})
		}
	}
	if p.LostMappings > 0 {
		notes = append(notes, bench.Warn("%d events about mappings were lost: addresses may have no name", p.LostMappings))
	}
	return notes
}

// forbidden tells that privileges are missing.
func forbidden(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return bench.WithHint(err, "run it as root; ebpf-bench doctor says what this kernel allows")
	}
	return err
}
