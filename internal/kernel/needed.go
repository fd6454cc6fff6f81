package kernel

// needed are the modules that a pack has, beside those that they depend on and
// those that its maker asks for. What a kernel has built in, or lacks, is left
// out. All of them together are some 2 MB.
var needed = []string{
	// The interfaces that traffic runs over, and that a suite may attach to.
	"veth",
	"dummy",
	"tun",
	// tc programs, where they are attached by netlink: as a filter of the
	// clsact qdisc, or as an action of one.
	"sch_ingress",
	"cls_bpf",
	"act_bpf",
	// The kfuncs for connection tracking, which the verifier finds in the BTF
	// of the module, and reassembly for netfilter programs.
	"nf_conntrack",
	"nf_defrag_ipv4",
	"nf_defrag_ipv6",
	// The fast port of a VM to its host.
	"virtio_pci",
	"virtio_console",
}
