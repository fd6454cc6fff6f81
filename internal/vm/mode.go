package vm

import "strconv"

// Mode is how the guest's instructions are run.
type Mode int

const (
	// Exact emulates the guest and counts its instructions: each advances its
	// clock by one nanosecond. Everything that the guest does and measures is
	// the same on every machine. It needs neither root nor KVM.
	Exact Mode = iota
	// KVM runs the guest on the processor itself, in real time.
	KVM
)

func (m Mode) String() string {
	if m == KVM {
		return "kvm"
	}
	return "exact"
}

// defaultMemory is what a guest needs for a kernel, this binary and a suite, in
// MiB.
const defaultMemory = 256

// machineArgs returns QEMU's arguments that define the machine.
func machineArgs(m Mode, memory int) []string {
	args := []string{
		// Take nothing from QEMU's defaults or from its user's configuration.
		"-nodefaults", "-no-user-config", "-display", "none",
		// A kernel that panics restarts the machine: end it instead.
		"-no-reboot",
		"-m", strconv.Itoa(memory),
	}
	if m == KVM {
		return append(args, "-machine", "pc", "-cpu", "host", "-smp", "2", "-accel", "kvm")
	}
	return append(args,
		// The processor is pinned, because another model has other
		// instructions, by which kernels choose their memcpy. It lacks
		// cmpxchg16b: where QEMU 7.2 emulates that, the kernel's allocator of
		// Linux 6.12 now and then faults twice.
		"-machine", "pc", "-cpu", "qemu64,-cx16,+rdrand",
		// Two processors would take turns that depend on the host.
		"-smp", "1",
		// One instruction takes one nanosecond, and a sleeping processor is
		// woken by its next timer at once: another thread of QEMU then advances
		// the clock. Only while QEMU records does that thread wait until the
		// processor has accounted for what it ran. Otherwise, on a busy host,
		// it sometimes sees the processor asleep before that, and the time of
		// what it ran passes twice. Nobody reads the recording.
		"-accel", "tcg", "-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null",
		// The guest's date always starts the same, and advances with its
		// instructions.
		"-rtc", "base=2024-01-01T00:00:00,clock=vm",
		// QEMU's random choices reach the guest.
		"-seed", "1",
	)
}
