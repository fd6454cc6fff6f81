package hook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/kernelfs"
	"github.com/org/ebpf-bench-action/internal/workload/perf"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

func readyTracepoint(h *Hook) (Opened, error) {
	group, name, ok := strings.Cut(h.Target, "/")
	if !ok {
		return nil, fmt.Errorf("%s names no tracepoint: it is %s/GROUP/NAME", h.Section, h.name)
	}
	t, err := perf.OpenTracepoint(group, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noHook("tracepoint", group+":"+name, perf.Tracepoints())
	}
	if err != nil {
		return nil, err // and no nil pointer in an interface
	}
	return t, nil
}

func attachRawTracepoint(h *Hook, p *ebpf.Program) (io.Closer, error) {
	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: h.Target, Program: p})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noHook("tracepoint", h.Target, rawTracepoints())
	}
	return closerOf(l, err)
}

func attachKprobe(h *Hook, p *ebpf.Program) (io.Closer, error) {
	symbol, offset, err := symbolOffset(h.Target)
	if err != nil {
		return nil, err
	}
	return h.kprobe(symbol, p, &link.KprobeOptions{Offset: offset})
}

// attachKsyscall attaches to the function that serves a system call.
func attachKsyscall(h *Hook, p *ebpf.Program) (io.Closer, error) {
	// The link package adds the architecture's prefix of the name.
	return h.kprobe("sys_"+h.Target, p, nil)
}

func (h *Hook) kprobe(symbol string, p *ebpf.Program, o *link.KprobeOptions) (io.Closer, error) {
	if err := HaveKprobes(); err != nil {
		return nil, err
	}
	probe := link.Kprobe
	if h.returns() {
		probe = link.Kretprobe
	}
	l, err := probe(symbol, p, o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noFunction(symbol)
	}
	return closerOf(l, err)
}

func attachKprobeMulti(h *Hook, p *ebpf.Program) (io.Closer, error) {
	if err := HaveKprobes(); err != nil {
		return nil, err
	}
	symbols := []string{h.Target}
	if strings.ContainsAny(h.Target, "*?") {
		var err error
		if symbols, err = perf.KernelFunctions(h.Target); err != nil {
			return nil, err
		}
		if len(symbols) == 0 {
			return nil, noFunction(h.Target)
		}
	}
	multi := link.KprobeMulti
	if h.returns() {
		multi = link.KretprobeMulti
	}
	l, err := multi(p, link.KprobeMultiOptions{Symbols: symbols, Session: h.as == ebpf.AttachTraceKprobeSession})
	if errors.Is(err, ebpf.ErrNotSupported) {
		return nil, host.Cannot(fmt.Errorf("this kernel has no %s, which takes Linux 5.18 (6.10 for a session) with CONFIG_FPROBE", h.name))
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return nil, noFunction(h.Target)
	}
	return closerOf(l, err)
}

// kprobePMU exists on kernels with kprobes, since Linux 4.17.
const kprobePMU = "/sys/bus/event_source/devices/kprobe"

// HaveKprobes returns an error if the kernel has no kprobes.
func HaveKprobes() error {
	if _, err := os.Stat(kprobePMU); errors.Is(err, fs.ErrNotExist) {
		return bench.WithHint(host.Cannot(errors.New("this kernel has no kprobes")), "measure on a kernel that has them: --kernel 6.12")
	}
	return nil
}

func attachTracing(h *Hook, p *ebpf.Program) (io.Closer, error) {
	l, err := link.AttachTracing(link.TracingOptions{Program: p, AttachType: h.as})
	if errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.EBUSY) || errors.Is(err, notSupported) {
		return nil, bench.WithHint(host.Cannot(fmt.Errorf("this kernel does not let programs be attached by %s: %w", h.name, err)), "measure on a kernel that does: --kernel 6.12")
	}
	return closerOf(l, err)
}

// notSupported is ENOTSUPP, which the kernel should not return, but does.
const notSupported = unix.Errno(524)

func attachLSM(_ *Hook, p *ebpf.Program) (io.Closer, error) {
	active, err := kernelfs.ReadFile("securityfs", "lsm")
	if err == nil && !strings.Contains(","+strings.TrimSpace(string(active))+",", ",bpf,") {
		return nil, bench.WithHint(host.Cannot(fmt.Errorf("BPF is none of this kernel's active security modules (%s)", strings.TrimSpace(string(active)))),
			"add bpf to lsm= on the kernel's command line, or measure on a kernel of its own: --kernel 6.12")
	}
	l, err := link.AttachLSM(link.LSMOptions{Program: p})
	return closerOf(l, err)
}

// symbolOffset parses a function with an offset, such as vfs_read+4.
func symbolOffset(target string) (symbol string, offset uint64, err error) {
	symbol, after, ok := strings.Cut(target, "+")
	if ok {
		if offset, err = strconv.ParseUint(after, 0, 64); err != nil {
			return "", 0, fmt.Errorf("%s: an offset is a number of bytes", target)
		}
	}
	return symbol, offset, nil
}

// closerOf returns a nil interface, not a nil link in one, if there is an
// error.
func closerOf(l link.Link, err error) (io.Closer, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}
