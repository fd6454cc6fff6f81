package plan

import (
	"slices"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/object"
)

// RunType is how the kernel's BPF_PROG_RUN runs programs of a type: the facts
// are those of its net/bpf/test_run.c.
type RunType struct {
	// Since is the first Linux that has it for the type, until the last one,
	// empty where that is not known.
	Since, Until string
	// packets says that each run takes one, as data_in or as what it looks up.
	packets bool
	// Once says that a call runs the program once and takes no number of repeats.
	Once bool
	// context completes what the suite says of ctx_in, which may be nothing, for
	// a packet, which may be none.
	context func(given, packet []byte) ([]byte, error)
	// lookup says that packets are not data_in: the context is all there is.
	lookup bool
	// DataOut says that the kernel returns the packet as the program leaves it,
	// and noHeader that the program does not see its Ethernet header, for which
	// there are zeros then.
	DataOut, NoHeader bool
}

// The kernel takes a frame of each skb program. Only those of tc see all of it.
var (
	l2 = RunType{Since: "4.12", packets: true, DataOut: true}
	l3 = RunType{Since: "4.12", packets: true, DataOut: true, NoHeader: true}
)

// RunTypes are the types that BPF_PROG_RUN runs.
var RunTypes = map[ebpf.ProgramType]RunType{
	ebpf.XDP:           {Since: "4.12", packets: true, DataOut: true, context: xdpContext},
	ebpf.SchedCLS:      l2,
	ebpf.SchedACT:      l2,
	ebpf.SocketFilter:  l3,
	ebpf.CGroupSKB:     l3,
	ebpf.LWTIn:         l3,
	ebpf.LWTOut:        l3,
	ebpf.LWTXmit:       l3,
	ebpf.LWTSeg6Local:  {Since: "4.18", Until: "6.10", packets: true, DataOut: true, NoHeader: true},
	ebpf.FlowDissector: {Since: "5.1", packets: true},
	ebpf.Tracing:       {Since: "5.7", Once: true},
	ebpf.RawTracepoint: {Since: "5.10", Once: true, context: rawTracepointContext},
	ebpf.SkLookup:      {Since: "5.13", packets: true, lookup: true, context: skLookupContext},
	ebpf.Syscall:       {Since: "5.14", Once: true, context: syscallContext},
	ebpf.Netfilter:     {Since: "6.4", packets: true, context: netfilterContext},
}

// EthernetHeader is the length of one, in bytes.
const EthernetHeader = 14

// runTypesText names the types, for messages.
func runTypesText() []string {
	var names []string
	for typ := range RunTypes {
		names = append(names, object.TypeName(typ))
	}
	slices.Sort(names)
	return names
}
