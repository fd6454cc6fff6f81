package runner

import (
	"slices"

	"github.com/cilium/ebpf"
)

// runType is how the kernel's BPF_PROG_RUN runs programs of a type: the facts
// are those of its net/bpf/test_run.c.
type runType struct {
	// since is the first Linux that has it for the type, until the last one,
	// empty where that is not known.
	since, until string
	// packets says that each run takes one, as data_in or as what it looks up.
	packets bool
	// once says that a call runs the program once and takes no number of repeats.
	once bool
	// context completes what the suite says of ctx_in, which may be nothing, for
	// a packet, which may be none.
	context func(given, packet []byte) ([]byte, error)
	// lookup says that packets are not data_in: the context is all there is.
	lookup bool
	// dataOut says that the kernel returns the packet as the program leaves it,
	// and noHeader that the program does not see its Ethernet header, for which
	// there are zeros then.
	dataOut, noHeader bool
}

// The kernel takes a frame of each skb program. Only those of tc see all of it.
var (
	l2 = runType{since: "4.12", packets: true, dataOut: true}
	l3 = runType{since: "4.12", packets: true, dataOut: true, noHeader: true}
)

// runTypes are the types that BPF_PROG_RUN runs.
var runTypes = map[ebpf.ProgramType]runType{
	ebpf.XDP:           {since: "4.12", packets: true, dataOut: true, context: xdpContext},
	ebpf.SchedCLS:      l2,
	ebpf.SchedACT:      l2,
	ebpf.SocketFilter:  l3,
	ebpf.CGroupSKB:     l3,
	ebpf.LWTIn:         l3,
	ebpf.LWTOut:        l3,
	ebpf.LWTXmit:       l3,
	ebpf.LWTSeg6Local:  {since: "4.18", until: "6.10", packets: true, dataOut: true, noHeader: true},
	ebpf.FlowDissector: {since: "5.1", packets: true},
	ebpf.Tracing:       {since: "5.7", once: true},
	ebpf.RawTracepoint: {since: "5.10", once: true, context: rawTracepointContext},
	ebpf.SkLookup:      {since: "5.13", packets: true, lookup: true, context: skLookupContext},
	ebpf.Syscall:       {since: "5.14", once: true, context: syscallContext},
	ebpf.Netfilter:     {since: "6.4", packets: true, context: netfilterContext},
}

const ethernetHeader = 14

// runTypesText names the types, for messages.
func runTypesText() []string {
	var names []string
	for typ := range runTypes {
		names = append(names, typeName(typ))
	}
	slices.Sort(names)
	return names
}
