package testrun

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/runner/internal/host"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// notHere returns the error of a kernel without BPF_PROG_RUN for a type.
func notHere(typ ebpf.ProgramType, err error) error {
	from, to := progrun.Types[typ].Since, " on"
	if until := progrun.Types[typ].Until; until != "" {
		to = " to " + until
	}
	return bench.WithHint(host.Cannot(host.Reword(err, fmt.Sprintf("this kernel cannot test_run programs of type %s, which is in Linux from %s%s", object.TypeName(typ), from, to))),
		"verify: {} measures what the verifier and the JIT make of it")
}

// hint suggests what to do when BPF_PROG_RUN refuses an input, for which
// the kernel gives no reason. It returns "" if nothing is known.
func hint(typ ebpf.ProgramType, in *progrun.Input, err error) string {
	switch {
	case errors.Is(err, unix.EMSGSIZE), errors.Is(err, unix.ENOMEM) && len(in.Data) > os.Getpagesize():
		return "the kernel takes no more than a page has room for, some 3,500 bytes: programs of section xdp.frags take larger ones, since Linux 5.18"
	case errors.Is(err, unix.E2BIG) && in.Context != nil:
		return fmt.Sprintf("the context has %d bytes: those beyond what this kernel knows of its struct must be zero, and a page has room for it", len(in.Context))
	case !errors.Is(err, unix.EINVAL):
		return ""
	}
	switch typ {
	case ebpf.Syscall:
		return fmt.Sprintf("the program may read more of its context than the %d bytes that it is given: set context: {size: BYTES}", len(in.Context))
	case ebpf.RawTracepoint:
		return fmt.Sprintf("the program may read more arguments than the %d that it is given: set context: {args: [...]}", len(in.Context)/8)
	case ebpf.SkLookup:
		return "the context is a struct bpf_sk_lookup; cookie and everything after local_port must be zero"
	case ebpf.XDP:
		if in.Context != nil {
			return "the context is a struct xdp_md: data is how many bytes of metadata the packet has before it (a multiple of 4, at most 32), data_end the packet's size (or 0), data_meta 0, and ingress_ifindex an interface with that rx_queue_index"
		}
	case ebpf.Netfilter:
		return "the context is a struct nf_hook_state; only hook and pf may be set, and pf must be the packet's family"
	default:
		if in.Context != nil {
			return "of a struct __sk_buff the kernel takes mark, priority, ifindex, ingress_ifindex, cb, tstamp, wire_len, gso_segs, gso_size and hwtstamp: all else must be zero"
		}
	}
	if in.Data == nil {
		return ""
	}
	return "the kernel takes packets that have more than an Ethernet header, newer ones with a whole IP header where the EtherType says so, and no more than a page has room for, some 3,500 bytes"
}
