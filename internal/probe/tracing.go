package probe

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// The hooks of the probes: present in every kernel, and reached only when a
// thread changes its name, so that attaching costs the machine next to nothing
// and [renameThread] triggers them.
const (
	tracepointGroup = "task"
	tracepointName  = "task_rename"
	kernelFunction  = "__set_task_comm"
)

func haveRawTracepoint() error {
	attach := func(prog *ebpf.Program) (io.Closer, error) {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: tracepointName, Program: prog})
		if err != nil {
			return nil, lackingIf(fmt.Errorf("attach to %s: %w", tracepointName, err), unix.ENOENT)
		}
		return l, nil
	}
	return fires(ebpf.ProgramSpec{Type: ebpf.RawTracepoint}, attach, renameThread)
}

func haveBTFTracepoint() error { return haveTracing(ebpf.AttachTraceRawTp, tracepointName) }

func haveFentry() error { return haveTracing(ebpf.AttachTraceFEntry, kernelFunction) }

func haveFexit() error { return haveTracing(ebpf.AttachTraceFExit, kernelFunction) }

func haveTracing(at ebpf.AttachType, target string) error {
	attach := func(prog *ebpf.Program) (io.Closer, error) {
		l, err := link.AttachTracing(link.TracingOptions{Program: prog, AttachType: at})
		if err != nil {
			return nil, fmt.Errorf("attach to %s: %w", target, err)
		}
		return l, nil
	}
	return fires(ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: at, AttachTo: target}, attach, renameThread)
}

// haveKprobe attaches only if perf knows kprobes: without it, package link
// writes to tracefs, and that would outlive a probe that is killed.
func haveKprobe() error {
	const events = "/sys/bus/event_source/devices"
	if _, err := os.Stat(events); err != nil {
		return err
	}
	if _, err := os.Stat(events + "/kprobe"); err != nil {
		return lackingIf(fmt.Errorf("perf has no kprobe events: %w", err), os.ErrNotExist)
	}

	attach := func(prog *ebpf.Program) (io.Closer, error) {
		l, err := link.Kprobe(kernelFunction, prog, nil)
		if err != nil {
			return nil, fmt.Errorf("attach to %s: %w", kernelFunction, err)
		}
		return l, nil
	}
	return fires(ebpf.ProgramSpec{Type: ebpf.Kprobe}, attach, renameThread)
}

// haveLSM attaches to a hook that only its trigger reaches, and that zero
// permits.
func haveLSM() error {
	const hook = "task_getpgid"
	attach := func(prog *ebpf.Program) (io.Closer, error) {
		l, err := link.AttachLSM(link.LSMOptions{Program: prog})
		if err != nil {
			return nil, fmt.Errorf("attach to %s: %w", hook, err)
		}
		return l, nil
	}
	err := fires(ebpf.ProgramSpec{Type: ebpf.LSM, AttachType: ebpf.AttachLSMMac, AttachTo: hook}, attach, askOwnGroup)
	if errors.Is(err, errNeverRun) {
		return lacking("%w: bpf is not among the active security modules", err)
	}
	return err
}
