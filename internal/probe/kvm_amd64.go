package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// From linux/kvm.h.
const (
	kvmCreateVM            = 0xAE01
	kvmGetVCPUMmapSize     = 0xAE04
	kvmCreateVCPU          = 0xAE41
	kvmSetTSSAddr          = 0xAE47
	kvmSetUserMemoryRegion = 0x4020AE46
	kvmRun                 = 0xAE80
	kvmSetRegs             = 0x4090AE82
	kvmGetSregs            = 0x8138AE83
	kvmSetSregs            = 0x4138AE84

	kvmExitIO = 2
)

type kvmMemoryRegion struct {
	slot, flags                    uint32
	guestPhys, size, userspaceAddr uint64
}

type kvmRegs struct {
	rax, rbx, rcx, rdx, rsi, rdi, rsp, rbp uint64
	r                                      [8]uint64
	rip, rflags                            uint64
}

type kvmSegment struct {
	base                              uint64
	limit                             uint32
	selector                          uint16
	typ, present, dpl, db, s, l, g, _ uint8
	unusable, _                       uint8
}

type kvmTable struct {
	base  uint64
	limit uint16
	_     [3]uint16
}

type kvmSregs struct {
	cs, ds, es, fs, gs, ss, tr, ldt   kvmSegment
	gdt, idt                          kvmTable
	cr0, cr2, cr3, cr4, cr8, efer, ab uint64
	interrupts                        [4]uint64
}

// Addresses in the guest's memory.
const (
	guestGDT    = 0x1000
	guestCode   = 0x8000
	guestStack  = 0xF000
	guestMemory = 0x10000

	guestPort   = 0x80
	guestAnswer = 42
)

// runGuest runs a guest that starts in protected mode without paging, as
// firmware does. A KVM that works without the processor's support emulates that
// mode in software, if at all, so that nothing boots in time.
func runGuest(kvm int) error {
	vmFD, err := ioctlFD(kvm, kvmCreateVM, 0)
	if err != nil {
		return fmt.Errorf("create a virtual machine: %w", err)
	}
	defer unix.Close(vmFD)
	// Intel's processors need three pages of the guest for themselves.
	_, _ = ioctl(vmFD, kvmSetTSSAddr, 0xfffbd000)

	memory, err := unix.Mmap(-1, 0, guestMemory, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fmt.Errorf("map the guest's memory: %w", err)
	}
	defer unix.Munmap(memory) //nolint:errcheck // it ends with the process
	fillGuest(memory)
	region := kvmMemoryRegion{size: guestMemory, userspaceAddr: uint64(uintptr(unsafe.Pointer(&memory[0])))}
	if err := ioctlPtr(vmFD, kvmSetUserMemoryRegion, unsafe.Pointer(&region)); err != nil {
		return fmt.Errorf("give the guest memory: %w", err)
	}

	cpu, err := ioctlFD(vmFD, kvmCreateVCPU, 0)
	if err != nil {
		return fmt.Errorf("create a virtual CPU: %w", err)
	}
	defer unix.Close(cpu)
	if err := startFlat(cpu); err != nil {
		return fmt.Errorf("set up a virtual CPU: %w", err)
	}
	size, err := ioctl(kvm, kvmGetVCPUMmapSize, 0)
	if err != nil {
		return err
	}
	state, err := unix.Mmap(cpu, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map the virtual CPU: %w", err)
	}
	defer unix.Munmap(state) //nolint:errcheck // as above
	return runCPU(cpu, state)
}

// fillGuest writes the guest's segments and code: a loop of four million turns,
// followed by the answer.
func fillGuest(memory []byte) {
	put := func(at int, v uint64) { binary.LittleEndian.PutUint64(memory[at:], v) }
	put(guestGDT+8, 0x00cf9b000000ffff)  // code
	put(guestGDT+16, 0x00cf93000000ffff) // data
	copy(memory[guestCode:], []byte{
		0xb9, 0x00, 0x00, 0x40, 0x00, // mov ecx, 1 << 22
		0x49, 0x75, 0xfd, // dec ecx; jnz
		0xb0, guestAnswer, 0xe6, guestPort, // mov al, 42; out 0x80, al
	})
}

// startFlat makes the CPU start in protected mode.
func startFlat(cpu int) error {
	var s kvmSregs
	if err := ioctlPtr(cpu, kvmGetSregs, unsafe.Pointer(&s)); err != nil {
		return err
	}
	s.cs = kvmSegment{limit: 0xffffffff, selector: 8, typ: 11, present: 1, db: 1, s: 1, g: 1}
	data := kvmSegment{limit: 0xffffffff, selector: 16, typ: 3, present: 1, db: 1, s: 1, g: 1}
	s.ds, s.es, s.fs, s.gs, s.ss = data, data, data, data, data
	s.gdt = kvmTable{base: guestGDT, limit: 3*8 - 1}
	s.cr0 |= 1 // PE
	if err := ioctlPtr(cpu, kvmSetSregs, unsafe.Pointer(&s)); err != nil {
		return err
	}
	return ioctlPtr(cpu, kvmSetRegs, unsafe.Pointer(&kvmRegs{rip: guestCode, rsp: guestStack, rflags: 2}))
}

// runCPU runs the CPU until it answers, which takes a few milliseconds. It
// interrupts a CPU that takes far longer.
func runCPU(cpu int, state []byte) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const patience = 500 * time.Millisecond
	thread, deadline := unix.Gettid(), time.Now().Add(patience)
	// The runtime also sends this signal to its threads, and takes it for its
	// own.
	interrupt := time.AfterFunc(patience, func() { _ = unix.Tgkill(unix.Getpid(), thread, unix.SIGURG) })
	defer interrupt.Stop()
	for {
		_, err := ioctl(cpu, kvmRun, 0)
		interrupted := errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN)
		switch {
		case interrupted && time.Now().After(deadline):
			return lacking("it emulates the firmware that a virtual machine begins with, so slowly that no kernel boots")
		case interrupted:
			continue
		case err != nil:
			return lacking("no virtual machine runs under it: %w", err)
		}
		return answered(state)
	}
}

// answered checks struct kvm_run: the reason of the exit, and what was written
// to which port.
func answered(state []byte) error {
	if reason := binary.LittleEndian.Uint32(state[8:]); reason != kvmExitIO {
		return lacking("no virtual machine runs under it: KVM ends the first for reason %d", reason)
	}
	port, offset := binary.LittleEndian.Uint16(state[34:]), binary.LittleEndian.Uint64(state[40:])
	if port != guestPort || offset >= uint64(len(state)) || state[offset] != guestAnswer {
		return lacking("a virtual machine goes wrong under it")
	}
	return nil
}

func ioctl(fd int, request, arg uintptr) (uintptr, error) {
	r, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, arg)
	if errno != 0 {
		return 0, errno
	}
	return r, nil
}

func ioctlFD(fd int, request, arg uintptr) (int, error) {
	r, err := ioctl(fd, request, arg)
	return int(r), err
}

func ioctlPtr(fd int, request uintptr, arg unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	if errno != 0 {
		return errno
	}
	return nil
}
