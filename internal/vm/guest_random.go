package vm

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seedRandom gives the kernel what it takes for random numbers, so that nobody who
// asks for one has to wait while it collects entropy from its timer: two seconds on
// an emulated CPU. The numbers of a guest are no secret, and in exact mode they
// are to be the same each time.
func seedRandom() error {
	f, err := os.OpenFile("/dev/urandom", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	// struct rand_pool_info of linux/random.h.
	info := struct {
		bits, size int32
		pool       [64]byte
	}{bits: 512, size: 64}
	for i := range info.pool {
		info.pool[i] = byte(i)
	}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), unix.RNDADDENTROPY, uintptr(unsafe.Pointer(&info)))
	if errno != 0 {
		return fmt.Errorf("seed the random numbers: %w", errno)
	}
	return nil
}
