package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
)

// extract copies a program with the maps, and through them the programs, that
// it refers to, so that nothing else of the object can fail to load. It takes
// off pinning, which would outlive the run.
func extract(spec *ebpf.CollectionSpec, program string) (*ebpf.CollectionSpec, []string) {
	spec = spec.Copy()
	keep := reach(spec, program)
	var warnings []string
	for name := range spec.Programs {
		if !keep[name] {
			delete(spec.Programs, name)
		}
	}
	for name, m := range spec.Maps {
		if !keep[name] {
			delete(spec.Maps, name)
			continue
		}
		if m.Pinning != ebpf.PinNone {
			m.Pinning = ebpf.PinNone
			warnings = append(warnings, fmt.Sprintf("map %s is not pinned: a run leaves nothing behind", name))
		}
	}
	for name, v := range spec.Variables {
		if spec.Maps[v.SectionName] == nil {
			delete(spec.Variables, name)
		}
	}
	slices.Sort(warnings)
	return spec, warnings
}

// reach is the set of names of programs and maps that a program needs, itself
// included: maps by its instructions, programs and inner maps by what those
// maps are filled with.
func reach(spec *ebpf.CollectionSpec, program string) map[string]bool {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		if p := spec.Programs[name]; p != nil {
			for i := range p.Instructions {
				if ins := &p.Instructions[i]; ins.IsLoadFromMap() && ins.Reference() != "" {
					visit(ins.Reference())
				}
			}
		}
		if m := spec.Maps[name]; m != nil {
			for _, kv := range m.Contents {
				if name, ok := kv.Value.(string); ok {
					visit(name)
				}
			}
		}
	}
	visit(program)
	return seen
}

// typeName spells a program type as bpftool does.
func typeName(t ebpf.ProgramType) string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	return strings.ToLower(t.String())
}

var typeNames = map[ebpf.ProgramType]string{
	ebpf.SocketFilter:          "socket_filter",
	ebpf.SchedCLS:              "sched_cls",
	ebpf.SchedACT:              "sched_act",
	ebpf.PerfEvent:             "perf_event",
	ebpf.CGroupSKB:             "cgroup_skb",
	ebpf.CGroupSock:            "cgroup_sock",
	ebpf.LWTIn:                 "lwt_in",
	ebpf.LWTOut:                "lwt_out",
	ebpf.LWTXmit:               "lwt_xmit",
	ebpf.SockOps:               "sock_ops",
	ebpf.SkSKB:                 "sk_skb",
	ebpf.CGroupDevice:          "cgroup_device",
	ebpf.SkMsg:                 "sk_msg",
	ebpf.RawTracepoint:         "raw_tracepoint",
	ebpf.CGroupSockAddr:        "cgroup_sock_addr",
	ebpf.LWTSeg6Local:          "lwt_seg6local",
	ebpf.LircMode2:             "lirc_mode2",
	ebpf.SkReuseport:           "sk_reuseport",
	ebpf.FlowDissector:         "flow_dissector",
	ebpf.CGroupSysctl:          "cgroup_sysctl",
	ebpf.RawTracepointWritable: "raw_tracepoint_writable",
	ebpf.CGroupSockopt:         "cgroup_sockopt",
	ebpf.StructOps:             "struct_ops",
	ebpf.Extension:             "ext",
	ebpf.SkLookup:              "sk_lookup",
}
