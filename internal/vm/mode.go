package vm

import "strconv"

// Mode is what runs the guest's instructions.
type Mode int

const (
	// Exact emulates the guest and counts its instructions: its clock goes on
	// by one nanosecond with each. All that happens in the guest, and all that
	// it measures, is the same on every machine. It takes neither root nor KVM.
	Exact Mode = iota
	// KVM runs the guest on the processor itself, where time is time.
	KVM
)

func (m Mode) String() string {
	if m == KVM {
		return "kvm"
	}
	return "exact"
}

// defaultMemory is what a guest needs for a kernel, this binary and a suite,
// in MiB.
const defaultMemory = 256

// machineArgs are the arguments of QEMU that make up the machine.
func machineArgs(m Mode, memory int) []string {
	args := []string{
		// Nothing but what is asked for here, neither from QEMU's defaults nor
		// from the configuration of its user.
		"-nodefaults", "-no-user-config", "-display", "none",
		// A kernel that panics restarts the machine: that ends it instead.
		"-no-reboot",
		"-m", strconv.Itoa(memory),
	}
	if m == KVM {
		return append(args, "-machine", "pc", "-cpu", "host", "-smp", "2", "-accel", "kvm")
	}
	return append(args,
		// The processor is pinned, for another model has other instructions:
		// kernels choose their memcpy by it. It is one without cmpxchg16b: where
		// QEMU 7.2 emulates that, the kernel's allocator of Linux 6.12 now and
		// then faults twice.
		"-machine", "pc", "-cpu", "qemu64,-cx16,+rdrand",
		// Two processors would take turns that depend on the host.
		"-smp", "1",
		// One instruction takes one nanosecond, and a processor that sleeps is
		// woken by its next timer at once. It is another thread of QEMU's that
		// moves the clock on then. Only while QEMU records does that thread wait
		// until the processor has accounted what it ran: otherwise it now and
		// then, on a busy host, sees the processor asleep before that, and what
		// it ran passes twice. Nobody reads the recording.
		"-accel", "tcg", "-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null",
		// The guest's date starts the same, and goes on with its instructions.
		"-rtc", "base=2024-01-01T00:00:00,clock=vm",
		// What QEMU draws at random reaches the guest.
		"-seed", "1",
	)
}
