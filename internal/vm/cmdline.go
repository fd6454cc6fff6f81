package vm

// guestEnv marks the first process of a guest. The kernel hands on as
// environment what it does not know of its command line.
const guestEnv = "EBPF_BENCH_GUEST"

// kernelArgs is the kernel's command line.
func kernelArgs(m Mode) []string {
	args := []string{
		"console=ttyS0", "quiet", "loglevel=4", // errors only: each character of output takes time
		"panic=-1",          // a panic restarts, which ends QEMU
		"oops=panic",        // a kernel that has a fault measures nothing any more
		"unknown_nmi_panic", // an NMI shows where the guest hangs
		"nokaslr",           // addresses decide about cache sets, hashes and the length of jumps
		"cryptomgr.notests", // the self-tests of ciphers take a tenth of a second
		"raid=noautodetect", // so does looking for disks
		// All but Debian's newest kernels leave bpf out of the default. What
		// they have beside is left out, for it adds to the cost of each hook.
		"lsm=lockdown,capability,yama,bpf",
		guestEnv + "=1",
	}
	if m == KVM {
		return args
	}
	return append(args,
		// The clock is exact, so it needs no calibration, no second opinion,
		// and no watchdog. All of these read other clocks in long loops.
		"tsc_early_khz=1000000", "tsc=reliable",
		// Calibrating the APIC's timer, and testing whether the interrupt of
		// the other one arrives, are more such loops.
		"noapictimer", "no_timer_check",
		// Reading the tables of the firmware, and calibrating the clocks that
		// are found there, takes 0.4 s. Nothing in this machine needs them.
		"acpi=off",
		// Collecting entropy from the jitter of memory takes 130 million
		// instructions, where there is no jitter.
		"initcall_blacklist=jent_mod_init",
	)
}
