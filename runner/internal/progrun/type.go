// Package progrun knows what the kernel's BPF_PROG_RUN takes, for each type of program.
package progrun

import (
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/object"
)

// Type describes how the kernel's BPF_PROG_RUN runs programs of a type,
// according to net/bpf/test_run.c.
type Type struct {
	// Since is the first release of Linux that has it for the type, Until the
	// last, or "" if there is no known one.
	Since, Until string
	// Packets says that each run takes a packet, as data_in or as what it looks
	// up.
	Packets bool
	// Once says that a call runs the program once and takes no number of
	// repeats.
	Once bool
	// Fields are the parts of the context that may be set.
	Fields []Field
	// context completes the ctx_in of the suite for a packet. Either may be
	// nil.
	context func(given, packet []byte) ([]byte, error)
	// Lookup says that packets are not data_in: the context is the only input.
	Lookup bool
	// DataOut says that the kernel returns the packet as the program leaves it,
	// and ContextOut that it also returns the context, a struct __sk_buff. The
	// next run of the same call begins with both; those of the other types, which
	// change neither, or take one call each, begin with what the call was given.
	DataOut, ContextOut bool
}

// TakesInput reports whether a run is given anything that may differ: a packet, or parts of
// a context.
func (t Type) TakesInput() bool { return t.Packets || t.Fields != nil }

// Field is a part of a context.
type Field struct{ At, Size int }

// skb are the types of programs that run on a struct sk_buff.
var skb = Type{Since: "4.12", Packets: true, DataOut: true, ContextOut: true, Fields: skbFields}

// skbFields are mark, priority, ingress_ifindex, ifindex, cb, tstamp, wire_len, gso_segs,
// gso_size and hwtstamp of a struct __sk_buff.
var skbFields = []Field{{8, 4}, {32, 4}, {36, 4}, {40, 4}, {48, 4}, {52, 4}, {56, 4}, {60, 4}, {64, 4}, {152, 8}, {160, 4}, {164, 4}, {176, 4}, {184, 8}}

// words returns the fields of a context of 64-bit words.
func words(n int) (all []Field) {
	for i := range n {
		all = append(all, Field{8 * i, 8})
	}
	return all
}

// Types are the types that BPF_PROG_RUN can run.
var Types = map[ebpf.ProgramType]Type{
	ebpf.XDP:           {Since: "4.12", Packets: true, DataOut: true, context: xdpContext, Fields: []Field{{0, 4}, {12, 4}}}, // data and ingress_ifindex
	ebpf.SchedCLS:      skb,
	ebpf.SchedACT:      skb,
	ebpf.SocketFilter:  skb,
	ebpf.CGroupSKB:     skb,
	ebpf.LWTIn:         skb,
	ebpf.LWTOut:        skb,
	ebpf.LWTXmit:       skb,
	ebpf.LWTSeg6Local:  {Since: "4.18", Until: "6.10", Packets: true, DataOut: true, ContextOut: true, Fields: skbFields},
	ebpf.FlowDissector: {Since: "5.1", Packets: true},
	ebpf.Tracing:       {Since: "5.7", Once: true},
	ebpf.RawTracepoint: {Since: "5.10", Once: true, context: rawTracepointContext, Fields: words(rawTracepointArgs)},
	ebpf.SkLookup:      {Since: "5.13", Packets: true, Lookup: true, context: skLookupContext},
	ebpf.Syscall:       {Since: "5.14", Once: true, context: syscallContext, Fields: words(32)},
	ebpf.Netfilter:     {Since: "6.4", Packets: true, context: netfilterContext, Fields: []Field{{0, 1}}},
}

// EthernetHeader is the length of an Ethernet header, in bytes.
const EthernetHeader = 14

// Names returns the names of the types, in the kernel's spelling.
func Names() []string {
	var names []string
	for typ := range Types {
		names = append(names, object.TypeName(typ))
	}
	slices.Sort(names)
	return names
}
