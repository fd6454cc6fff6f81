package probe

import "slices"

// Probes returns every probe, in the order in which Doctor runs them.
func Probes() []Probe { return slices.Clone(probes) }

var probes = []Probe{
	{
		Name:  "capabilities",
		For:   "loading, attaching and timing programs",
		Cost:  "nothing can be measured on this kernel",
		Fix:   "run as root, or give the container these capabilities",
		check: haveCapabilities,
	}, {
		Name:  "bpf()",
		For:   "loading programs",
		Cost:  "nothing can be measured on this kernel",
		Fix:   "boot a kernel built with CONFIG_BPF_SYSCALL",
		check: haveSyscall,
	}, {
		Name:  "JIT",
		For:   "running programs as machine code",
		Cost:  "times are those of the interpreter, which production does not use",
		Fix:   "sysctl net.core.bpf_jit_enable=1",
		check: haveJIT,
	}, {
		Name:  "kernel BTF",
		For:   "CO-RE relocations, tp_btf, fentry and LSM programs",
		Cost:  "objects that need any of these do not load",
		Fix:   "boot a kernel built with CONFIG_DEBUG_INFO_BTF",
		check: haveBTF,
	}, {
		Name:  "bpffs",
		For:   "maps and programs that other tools have pinned",
		Cost:  "pinned objects cannot be opened",
		Fix:   "mount -t bpf bpf /sys/fs/bpf",
		check: haveBPFFS,
	},

	{
		Name:  "BPF_ENABLE_STATS",
		For:   "counting run_time_ns and run_cnt for as long as a run takes",
		Cost:  "kernel.bpf_stats_enabled has to be set, and restored, instead",
		Fix:   "boot Linux 5.8 or newer",
		check: haveEnableStats,
	}, {
		Name:  "kernel.bpf_stats_enabled",
		For:   "counting run_time_ns and run_cnt where BPF_ENABLE_STATS is missing",
		Cost:  "no time can be measured, unless BPF_ENABLE_STATS is there",
		Fix:   "boot Linux 5.1 or newer and mount /proc/sys writable",
		check: haveStatsSysctl,
	}, {
		Name:  "recursion_misses",
		For:   "counting the runs that the kernel skipped",
		Cost:  "skipped runs look like events that never came",
		Fix:   "boot Linux 5.12 or newer",
		check: haveInfo("recursion_misses"),
	}, {
		Name:  "verified_insns",
		For:   "the verifier measure of the same name",
		Cost:  "results come without it",
		Fix:   "boot Linux 5.16 or newer",
		check: haveInfo("verified_insns"),
	},

	{
		Name:  "test_run xdp",
		For:   "running XDP programs on packets from memory",
		Cost:  "XDP programs can only be run on a veth",
		Fix:   "boot Linux 4.12 or newer",
		check: haveTestRunXDP,
	}, {
		Name:  "test_run skb",
		For:   "running tc and other skb programs on packets from memory",
		Cost:  "skb programs cannot be measured by test_run",
		Fix:   "boot Linux 4.12 or newer",
		check: haveTestRunSKB,
	}, {
		Name:  "live frames",
		For:   "sending millions of packets a second through a veth",
		Cost:  "packets are sent by AF_PACKET, several times slower",
		Fix:   "boot Linux 5.18 or newer",
		check: haveLiveFrames,
	},

	{
		Name:  "network namespaces",
		For:   "interfaces that the rest of the machine does not see",
		Cost:  "nothing can be measured on an interface",
		Fix:   "boot a kernel built with CONFIG_NET_NS",
		check: haveNetNS,
	}, {
		Name:  "veth",
		For:   "sending packets to an attached program",
		Cost:  "nothing can be measured on an interface",
		Fix:   "modprobe veth, or boot a kernel built with CONFIG_VETH",
		check: haveVeth,
	}, {
		Name:  "xdp native",
		For:   "XDP programs in the driver of a veth",
		Cost:  "XDP on a veth is measured in generic mode only",
		Fix:   "boot Linux 4.19 or newer",
		check: haveXDPNative,
	}, {
		Name:  "xdp generic",
		For:   "XDP programs in the network stack",
		Cost:  "XDP on a veth is measured in native mode only",
		Fix:   "boot Linux 4.12 or newer",
		check: haveXDPGeneric,
	}, {
		Name:  "bpf_link xdp",
		For:   "detaching XDP programs however a run ends",
		Cost:  "XDP programs are attached by netlink and end with their interface",
		Fix:   "boot Linux 5.9 or newer",
		check: haveXDPLink,
	}, {
		Name:  "tc",
		For:   "tc programs on a clsact qdisc, as tc(8) attaches them",
		Cost:  "tc programs can be measured attached by tcx only",
		Fix:   "modprobe sch_ingress cls_bpf, or boot a kernel built with CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF",
		check: haveTC,
	}, {
		Name:  "tcx",
		For:   "attaching tc programs by bpf_link",
		Cost:  "tc programs can be measured attached to a clsact qdisc only",
		Fix:   "boot Linux 6.6 or newer",
		check: haveTCX,
	},

	{
		Name:  "perf_event cpu-clock",
		For:   "programs that sample, such as profilers",
		Cost:  "perf_event programs cannot be measured",
		Fix:   "boot a kernel built with CONFIG_PERF_EVENTS and CONFIG_BPF_EVENTS",
		check: haveCPUClock,
	}, {
		Name:  "perf_event cycles",
		For:   "hardware counters of runs, and sampling by them",
		Cost:  "results have no cycles or cache misses, and perf_event programs are driven by software events only",
		Fix:   "use bare metal, or a virtual machine that is given a PMU",
		check: haveCycles,
	}, {
		Name:  "bpf_link perf_event",
		For:   "attaching to perf events by bpf_link",
		Cost:  "programs are attached by ioctl, which does the same",
		Fix:   "boot Linux 5.15 or newer",
		check: havePerfEventLink,
	},

	{
		Name:  "tracepoint",
		For:   "tracepoint programs",
		Cost:  "tracepoint programs cannot be measured attached",
		Fix:   "boot a kernel built with CONFIG_FTRACE and CONFIG_BPF_EVENTS",
		check: haveTracepoint,
	}, {
		Name:  "raw_tp",
		For:   "raw tracepoint programs",
		Cost:  "raw_tp programs cannot be measured attached",
		Fix:   "boot Linux 4.17 or newer, built with CONFIG_BPF_EVENTS",
		check: haveRawTracepoint,
	}, {
		Name:  "tp_btf",
		For:   "raw tracepoint programs that use kernel types",
		Cost:  "tp_btf programs cannot be measured attached",
		Fix:   "boot Linux 5.5 or newer, built with CONFIG_DEBUG_INFO_BTF",
		check: haveBTFTracepoint,
	}, {
		Name:  "kprobe",
		For:   "programs at the entry and return of kernel functions",
		Cost:  "kprobe programs cannot be measured attached",
		Fix:   "boot a kernel built with CONFIG_KPROBE_EVENTS",
		check: haveKprobe,
	}, {
		Name:  "fentry",
		For:   "fentry programs, at the entry of kernel functions; hardware counters of attached programs",
		Cost:  "fentry programs cannot be measured attached",
		Fix:   "boot Linux 5.5 or newer (arm64: 6.0), built with CONFIG_FUNCTION_TRACER",
		check: haveFentry,
	}, {
		Name:  "fexit",
		For:   "fexit programs, at the return of kernel functions",
		Cost:  "fexit programs cannot be measured attached",
		Fix:   "boot Linux 5.5 or newer (arm64: 6.0), built with CONFIG_FUNCTION_TRACER",
		check: haveFexit,
	}, {
		Name:  "freplace",
		For:   "programs that replace a function of another program",
		Cost:  "freplace programs cannot be measured",
		Fix:   "boot Linux 5.6 or newer (arm64: 6.0), built with CONFIG_DEBUG_INFO_BTF",
		check: haveFreplace,
	}, {
		Name:  "lsm",
		For:   "security policies written as BPF programs",
		Cost:  "LSM programs cannot be measured attached",
		Fix:   "boot Linux 5.7 or newer, built with CONFIG_BPF_LSM, and add bpf to the lsm= of its command line",
		check: haveLSM,
	},

	{
		Name:  "kvm",
		For:   "running another kernel in a virtual machine at full speed",
		Cost:  "virtual machines are emulated, many times slower",
		Fix:   "use a machine with a working KVM: load kvm_intel or kvm_amd, permit nested virtualization, join the group that owns /dev/kvm",
		check: haveKVM,
	}, {
		Name:  "qemu",
		For:   "running another kernel in a virtual machine",
		Cost:  "only the running kernel can be measured",
		Fix:   "install QEMU's system emulator for this architecture",
		check: haveQEMU,
	},
}
