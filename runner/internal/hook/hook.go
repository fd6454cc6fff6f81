// Package hook parses the hook of a tracing program, attaches the program to
// it, and knows which load makes the kernel reach it.
package hook

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
)

// Hook is a hook for tracing programs, spelled as a section of an object: a
// kind and a target, such as kprobe/vfs_read.
type Hook struct {
	*hookKind
	Section string
	// name is the kind's name in the section, Target what follows it.
	name, Target string
	sleepable    bool
}

// hookKind is a way to attach a tracing program.
type hookKind struct {
	// program is the type of program that the kind takes, as the attach type
	// that the kernel needs to know when it loads the program.
	program ebpf.ProgramType
	as      ebpf.AttachType
	// byBTF says that the kernel looks the target up when it loads the program.
	byBTF bool
	// InUser says that the target is code in user space, which a command has to
	// run.
	InUser bool
	// attach attaches a program until the returned Closer is closed. If it is nil, ready
	// readies the hook for that.
	attach func(h *Hook, p *ebpf.Program) (io.Closer, error)
	ready  func(h *Hook) (Opened, error)
}

// hookKinds are the kinds by their names, as libbpf spells them, without the
// suffix for programs that may sleep.
var hookKinds = map[string]*hookKind{}

// otherHooks are the other kinds that libbpf knows, with explanations.
var otherHooks = map[string]string{
	"fsession":       "an fsession program is attached to where a function of the kernel begins and ends",
	"lsm_cgroup":     "an lsm_cgroup program is attached to a cgroup",
	"uprobe.session": "a uprobe.session program is attached to where a function in user space begins and ends",
}

func init() {
	add := func(k hookKind, names ...string) {
		for _, name := range names {
			hookKinds[name] = &k
		}
	}
	add(hookKind{program: ebpf.TracePoint, ready: readyTracepoint}, "tracepoint", "tp")
	add(hookKind{program: ebpf.RawTracepoint, attach: attachRawTracepoint}, "raw_tracepoint", "raw_tp")
	add(hookKind{program: ebpf.RawTracepointWritable, attach: attachRawTracepoint}, "raw_tracepoint.w", "raw_tp.w")
	add(hookKind{program: ebpf.Kprobe, attach: attachKprobe}, "kprobe", "kretprobe")
	add(hookKind{program: ebpf.Kprobe, attach: attachKsyscall}, "ksyscall", "kretsyscall")
	add(hookKind{program: ebpf.Kprobe, as: ebpf.AttachTraceKprobeMulti, attach: attachKprobeMulti}, "kprobe.multi", "kretprobe.multi")
	add(hookKind{program: ebpf.Kprobe, as: ebpf.AttachTraceKprobeSession, attach: attachKprobeMulti}, "kprobe.session")
	add(hookKind{program: ebpf.Kprobe, InUser: true, attach: attachUprobe}, "uprobe", "uretprobe")
	add(hookKind{program: ebpf.Kprobe, InUser: true, attach: attachUSDT}, "usdt")
	add(hookKind{program: ebpf.Kprobe, as: ebpf.AttachTraceUprobeMulti, InUser: true, attach: attachUprobeMulti}, "uprobe.multi", "uretprobe.multi")
	add(hookKind{program: ebpf.Tracing, as: ebpf.AttachTraceRawTp, byBTF: true, attach: attachTracing}, "tp_btf")
	add(hookKind{program: ebpf.Tracing, as: ebpf.AttachTraceFEntry, byBTF: true, attach: attachTracing}, "fentry")
	add(hookKind{program: ebpf.Tracing, as: ebpf.AttachTraceFExit, byBTF: true, attach: attachTracing}, "fexit")
	add(hookKind{program: ebpf.Tracing, as: ebpf.AttachModifyReturn, byBTF: true, attach: attachTracing}, "fmod_ret")
	add(hookKind{program: ebpf.Tracing, as: ebpf.AttachTraceIter, byBTF: true}, "iter")
	add(hookKind{program: ebpf.LSM, as: ebpf.AttachLSMMac, byBTF: true, attach: attachLSM}, "lsm")
}

// IsTracing reports whether programs of type t are attached to hooks.
func IsTracing(t ebpf.ProgramType) bool {
	for _, k := range hookKinds {
		if k.program == t {
			return true
		}
	}
	return false
}

// Parse parses a hook, spelled as the name of a section.
func Parse(section string) (*Hook, error) {
	name, target, _ := strings.Cut(strings.TrimPrefix(section, "?"), "/")
	h := &Hook{Section: section, name: name, Target: target}
	h.name, h.sleepable = strings.CutSuffix(name, ".s")
	if h.hookKind = hookKinds[h.name]; h.hookKind == nil {
		if what := otherHooks[h.name]; what != "" {
			return nil, errors.New(what + ", which is not done here")
		}
		known := slices.Sorted(maps.Keys(hookKinds))
		return nil, fmt.Errorf("%s is not a hook that a program is attached to%s: a hook is %s, followed by / and its target",
			section, strictyaml.DidYouMean(h.name, known), strings.Join(known, ", "))
	}
	if h.Target == "" {
		return nil, fmt.Errorf("%s does not say what the program is attached to: say it by attach, such as %s", section, h.example())
	}
	return h, nil
}

// example returns a hook of the same kind.
func (h *Hook) example() string {
	switch {
	case h.program == ebpf.TracePoint:
		return h.name + "/syscalls/sys_enter_openat"
	case h.name == "usdt":
		return h.name + "//usr/bin/python3:python:function__entry"
	case h.InUser:
		return h.name + "//usr/lib/libc.so.6:malloc"
	case h.program == ebpf.RawTracepoint, h.as == ebpf.AttachTraceRawTp:
		return h.name + "/sched_switch"
	case h.as == ebpf.AttachTraceIter:
		return h.name + "/task"
	case h.program == ebpf.LSM:
		return h.name + "/file_open"
	case strings.HasSuffix(h.name, "syscall"):
		return h.name + "/openat"
	}
	return h.name + "/vfs_read"
}

// returns reports whether the program runs when the target returns.
func (h *Hook) returns() bool {
	return strings.HasPrefix(h.name, "kret") || strings.HasPrefix(h.name, "uret")
}

// Takes returns why the hook does not take programs of type t, or nil if it
// does.
func (h *Hook) Takes(t ebpf.ProgramType) error {
	if t != h.program {
		return fmt.Errorf("%s takes programs of type %s", h.Section, object.TypeName(h.program))
	}
	return nil
}

// Reads reports whether the hook is an iterator, whose program runs when it is
// read: once for each item, and once at the end.
func (h *Hook) Reads() bool { return h.byBTF && h.as == ebpf.AttachTraceIter }

// Elsewhere reports whether a program of type t, attached to the named tracepoint
// ("" if not known), is certainly not one that this hook runs.
func (h *Hook) Elsewhere(t ebpf.ProgramType, tracepoint string) bool {
	if h.InUser {
		return t != ebpf.Kprobe
	}
	mine := h.Target
	switch {
	case h.program == ebpf.TracePoint:
		_, mine, _ = strings.Cut(h.Target, "/")
	case h.program == ebpf.RawTracepoint, h.program == ebpf.RawTracepointWritable, h.as == ebpf.AttachTraceRawTp:
	default:
		return false
	}
	return tracepoint != "" && tracepoint != mine && tracepoint != rawName(mine) && rawName(tracepoint) != mine
}

// rawName returns the name of the raw tracepoint from which a tracepoint comes:
// those of system calls share two.
func rawName(tracepoint string) string {
	for _, all := range []string{"sys_enter", "sys_exit"} {
		if strings.HasPrefix(tracepoint, all+"_") {
			return all
		}
	}
	return tracepoint
}

// Opened is a hook that takes programs again and again, until it is closed.
type Opened interface {
	// Attach attaches a program until the returned Closer is closed.
	Attach(p *ebpf.Program) (io.Closer, error)
	io.Closer
}

// Open finds the hook and readies it for programs.
func (h *Hook) Open() (Opened, error) {
	if h.ready == nil {
		return unheld{h}, nil
	}
	return h.ready(h)
}

// unheld is a hook that nothing readies.
type unheld struct{ h *Hook }

func (u unheld) Attach(p *ebpf.Program) (io.Closer, error) { return u.h.attach(u.h, p) }

func (u unheld) Close() error { return nil }

// Aim readies a program for loading with this hook, which may differ from the
// one that it was compiled for.
func (h *Hook) Aim(p *ebpf.ProgramSpec) error {
	if err := h.Takes(p.Type); err != nil {
		return err
	}
	p.AttachType = h.as
	if h.byBTF {
		p.AttachTo, _, _ = strings.Cut(h.Target, ":")
	}
	if h.sleepable {
		p.Flags |= unix.BPF_F_SLEEPABLE
	}
	return nil
}
