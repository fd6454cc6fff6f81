package probe

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// What the probes attach to: present in every kernel, and rarely reached or
// never, so that attaching costs the machine nothing.
const (
	tracepointGroup = "sched"
	tracepointName  = "sched_process_exec"
	kernelFunction  = "kernel_restart"
)

func haveTracepoint() error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.TracePoint})
	if err != nil {
		return err
	}
	defer prog.Close()

	l, err := link.Tracepoint(tracepointGroup, tracepointName, prog, nil)
	if err == nil {
		return l.Close()
	}
	if mounted, mountErr := haveTracefs(); mountErr == nil && !mounted {
		return lacking("tracefs is not mounted")
	}
	return lackingIf(err, os.ErrNotExist)
}

func haveTracefs() (bool, error) {
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if mounted, err := isMounted(dir, unix.TRACEFS_MAGIC); mounted || err != nil {
			return mounted, err
		}
	}
	return false, nil
}

func haveRawTracepoint() error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.RawTracepoint})
	if err != nil {
		return err
	}
	defer prog.Close()

	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: tracepointName, Program: prog})
	if err != nil {
		return lackingIf(fmt.Errorf("attach to %s: %w", tracepointName, err), unix.ENOENT)
	}
	return l.Close()
}

func haveBTFTracepoint() error { return haveTracing(ebpf.AttachTraceRawTp, tracepointName) }

func haveFentry() error { return haveTracing(ebpf.AttachTraceFEntry, kernelFunction) }

func haveTracing(at ebpf.AttachType, target string) error {
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: at, AttachTo: target})
	if err != nil {
		return err
	}
	defer prog.Close()

	l, err := link.AttachTracing(link.TracingOptions{Program: prog, AttachType: at})
	if err != nil {
		return fmt.Errorf("attach to %s: %w", target, err)
	}
	return l.Close()
}

// haveKprobe attaches only where perf knows kprobes: without it, package link
// writes to tracefs, and what is written there outlives a probe that is killed.
func haveKprobe() error {
	const events = "/sys/bus/event_source/devices"
	if _, err := os.Stat(events); err != nil {
		return err
	}
	if _, err := os.Stat(events + "/kprobe"); err != nil {
		return lackingIf(fmt.Errorf("perf has no kprobe events: %w", err), os.ErrNotExist)
	}

	prog, err := load(ebpf.ProgramSpec{Type: ebpf.Kprobe})
	if err != nil {
		return err
	}
	defer prog.Close()

	l, err := link.Kprobe(kernelFunction, prog, nil)
	if err != nil {
		return fmt.Errorf("attach to %s: %w", kernelFunction, err)
	}
	return l.Close()
}

// haveLSM looks whether the program is run, because the kernel lets it attach
// also while bpf is not among the active security modules.
func haveLSM() error {
	// This hook is asked by every getpgid(2) that names a process, and zero
	// grants it.
	prog, err := load(ebpf.ProgramSpec{Type: ebpf.LSM, AttachType: ebpf.AttachLSMMac, AttachTo: "task_getpgid"})
	if err != nil {
		return err
	}
	defer prog.Close()

	stats, err := enableStats()
	if err != nil {
		// A kernel without stats may have LSM programs all the same.
		return inconclusive(fmt.Errorf("count runs: %w", err))
	}
	defer stats.Close()

	l, err := link.AttachLSM(link.LSMOptions{Program: prog})
	if err != nil {
		return fmt.Errorf("attach to task_getpgid: %w", err)
	}
	defer l.Close()

	if _, err := unix.Getpgid(unix.Getpid()); err != nil {
		return fmt.Errorf("getpgid: %w", err)
	}
	if err := counted(prog); err != nil {
		if errors.Is(err, errNotCounted) {
			return lacking("attached, but never run: bpf is not among the active security modules")
		}
		return err
	}
	return nil
}
