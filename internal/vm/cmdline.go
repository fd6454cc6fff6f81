package vm

import "github.com/org/ebpf-bench-action/internal/vm/guest"

// kernelArgs is the kernel's command line. The times are those of exact mode.
func kernelArgs(m Mode) []string {
	args := []string{
		// Errors only: each character that is printed takes time.
		"console=ttyS0", "quiet", "loglevel=4",
		// A kernel that has a fault measures nothing any more: it panics, and
		// restarts the machine, which ends QEMU.
		"oops=panic", "panic=-1",
		// An NMI shows where the guest hangs.
		"unknown_nmi_panic",
		// Addresses decide about hashes, and about who shares a cache line.
		"nokaslr", "norandmaps",
		// The self-tests of ciphers take 0.4 s. Looking for the disks of a RAID
		// waits for all devices where that is built in.
		"cryptomgr.notests", "raid=noautodetect",
		// Most kernels leave bpf out unless it is asked for. What distributions
		// have beside these is left out, for it adds to the cost of each hook.
		"lsm=lockdown,capability,yama,bpf",
		// Random numbers are the processor's, which are there at once: to collect
		// entropy takes two seconds on an emulated one.
		"random.trust_cpu=on",
		guest.Env + "=1",
	}
	if m == KVM {
		return args
	}
	return append(args,
		// One instruction is one nanosecond: a clock that the kernel calibrates
		// is off by millionths, and one that it compares with others it may
		// come to distrust.
		"tsc_early_khz=1000000", "tsc=reliable",
		// The timer of the APIC would be calibrated, too. Whether the other
		// one's interrupt arrives is no question in this machine.
		"noapictimer", "no_timer_check",
		// To run the firmware's programs, and to test the clocks that they
		// tell of, takes 0.4 s. Nothing in this machine needs them.
		"acpi=off",
		// To collect entropy from the jitter of memory, where there is none,
		// takes 0.1 s.
		"initcall_blacklist=jent_mod_init",
		// Each test_run of an XDP program waits for two grace periods, of 8 ms
		// each, in which nothing runs but other timers.
		"rcupdate.rcu_expedited=1",
	)
}
