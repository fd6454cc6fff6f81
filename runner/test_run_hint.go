package runner

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// noTestRun says that the kernel has no BPF_PROG_RUN for a type.
func noTestRun(typ ebpf.ProgramType, err error) error {
	from, to := runTypes[typ].since, " on"
	if until := runTypes[typ].until; until != "" {
		to = " to " + until
	}
	return bench.WithHint(host.Cannot(&retold{fmt.Sprintf("this kernel cannot test_run programs of type %s, which is in Linux from %s%s", typeName(typ), from, to), err}),
		"verify: {} measures what the verifier and the JIT make of it")
}

// testRunHint is what can be done about a refusal of BPF_PROG_RUN, which the
// kernel gives no reason for; empty where that is not known.
func testRunHint(typ ebpf.ProgramType, in *input, err error) string {
	switch {
	case errors.Is(err, unix.EMSGSIZE), errors.Is(err, unix.ENOMEM) && len(in.data) > os.Getpagesize():
		return "the kernel takes no more than a page has room for, some 3,500 bytes: programs of section xdp.frags take larger ones, since Linux 5.18"
	case !errors.Is(err, unix.EINVAL):
		return ""
	}
	switch typ {
	case ebpf.Syscall:
		return fmt.Sprintf("the program may read more of its context than the %d bytes that it is given: set context: {size: BYTES}", len(in.context))
	case ebpf.RawTracepoint:
		return fmt.Sprintf("the program may read more arguments than the %d that it is given: set context: {args: [...]}", len(in.context)/8)
	case ebpf.SkLookup:
		return "the context is a struct bpf_sk_lookup of which cookie and all that follows local_port must be zero"
	case ebpf.XDP:
		if in.context != nil {
			return "the context is a struct xdp_md: data is how many bytes of metadata the packet has before it (a multiple of 4, at most 32), data_end the packet's size (or 0), data_meta 0, and ingress_ifindex an interface with that rx_queue_index"
		}
	case ebpf.Netfilter:
		return "the context is a struct nf_hook_state of which only hook and pf may be set, and pf must be the packet's family"
	default:
		if in.context != nil {
			return "of a struct __sk_buff the kernel takes mark, priority, ifindex, ingress_ifindex, cb, tstamp, wire_len, gso_segs, gso_size and hwtstamp: all else must be zero"
		}
	}
	if in.data == nil {
		return ""
	}
	return "the kernel takes packets that have more than an Ethernet header, newer ones with a whole IP header where the EtherType says so, and no more than a page has room for, some 3,500 bytes"
}
