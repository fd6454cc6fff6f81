package vethpair

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/workload/network"
)

// ethtoolValue is the kernel's struct ethtool_value.
type ethtoolValue struct{ cmd, data uint32 }

// ethtoolRequest is the kernel's struct ifreq as SIOCETHTOOL takes it.
type ethtoolRequest struct {
	name  [unix.IFNAMSIZ]byte
	value *ethtoolValue
	_     [16]byte
}

// setGRO turns generic receive offload of an end on or off.
func setGRO(e *network.End, on bool) error {
	value := ethtoolValue{cmd: unix.ETHTOOL_SGRO}
	if on {
		value.data = 1
	}
	request := ethtoolRequest{value: &value}
	copy(request.name[:unix.IFNAMSIZ-1], e.Name)

	err := e.Netns.Do(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
		if errno != 0 {
			return errno
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("switch GRO of %s end: %w", e.Name, err)
	}
	return nil
}
