package vm

import "github.com/org/ebpf-bench-action/internal/vm/guest"

// kernelArgs returns the kernel's command line. The times in comments are those
// of exact mode.
func kernelArgs(m Mode) []string {
	args := []string{
		// Print only errors: each character takes time.
		"console=ttyS0", "quiet", "loglevel=4",
		// A kernel with a fault cannot measure any more: let it panic and
		// restart the machine, which ends QEMU.
		"oops=panic", "panic=-1",
		// An NMI shows where the guest hangs.
		"unknown_nmi_panic",
		// Addresses influence hashes, and what shares a cache line.
		"nokaslr", "norandmaps",
		// The self-tests of ciphers take 0.4 s. If RAID autodetection is built
		// in, it waits for all devices.
		"cryptomgr.notests", "raid=noautodetect",
		// Most kernels include bpf only on request. Leave out the other modules
		// of distributions, because they add to the cost of each hook.
		"lsm=lockdown,capability,yama,bpf",
		// Take random numbers from the processor, which has them at once:
		// collecting entropy takes two seconds on an emulated one.
		"random.trust_cpu=on",
		guest.Env + "=1",
	}
	if m == KVM {
		return args
	}
	return append(args,
		// One instruction is one nanosecond. A clock that the kernel calibrates
		// is off by millionths, and it may come to distrust one that it
		// compares with others.
		"tsc_early_khz=1000000", "tsc=reliable",
		// It would calibrate the timer of the APIC, too. The interrupt of the
		// other timer always arrives in this machine.
		"noapictimer", "no_timer_check",
		// Running the firmware's programs, and testing the clocks that they
		// describe, takes 0.4 s. Nothing in this machine needs them.
		"acpi=off",
		// Collecting entropy from the jitter of memory takes 0.1 s; here,
		// memory has no jitter.
		"initcall_blacklist=jent_mod_init",
		// Each test_run of an XDP program waits for two grace periods, of 8 ms
		// each, in which nothing runs but other timers.
		"rcupdate.rcu_expedited=1",
	)
}
