package workload

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faultPages are the pages that the load of page faults touches before it gives
// them back.
const faultPages = 64

func init() {
	tasks["faults"] = func([]string) (func(int) (int, error), error) {
		touch, err := newToucher()
		if err != nil {
			return nil, err
		}
		return repeat(func() error { touch(); return nil }), nil
	}
}

// newToucher is what touches one page of memory that is not there yet.
func newToucher() (touch func(), err error) {
	page := unix.Getpagesize()
	memory, err := unix.Mmap(-1, 0, faultPages*page, readWrite, private)
	if err != nil {
		return nil, fmt.Errorf("map memory: %w", err)
	}
	// A huge page would be there by one fault. A kernel without them refuses.
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE)
	at, size := uintptr(unsafe.Pointer(&memory[0])), uintptr(len(memory))
	next := 0
	return func() {
		memory[next*page] = 1
		if next++; next == faultPages {
			raw(unix.SYS_MADVISE, at, size, unix.MADV_DONTNEED)
			next = 0
		}
	}, nil
}
