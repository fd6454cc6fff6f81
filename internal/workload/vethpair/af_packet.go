package vethpair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const (
	// packetBatch is about the number of packets in one call: more would not
	// make it faster.
	packetBatch = 64
	// packetBuffer is a send buffer that a batch never fills. So a packet that
	// the kernel did not take was dropped by the driver.
	packetBuffer = 1 << 20
	// packetPatience is how long a batch waits for the one before it. A program
	// may forward packets to where they stay.
	packetPatience = 20 * time.Millisecond
	// packetStuck is for how long the kernel may take no packet at all.
	packetStuck = 2 * time.Second
)

// packetSender sends frames by an AF_PACKET socket, on any kernel.
type packetSender struct {
	fd int
	// bypass sends packets directly to the driver, past the hooks of tc.
	bypass bool
	// messages are the frames, repeated to fill a batch.
	messages []mmsghdr
	drop     *ebpf.Program
	// attached drops what the far end sends back. It also makes the near end
	// poll, which it needs in order to take packets that the far end sends
	// back.
	attached attachment
}

// mmsghdr is the kernel's struct mmsghdr.
type mmsghdr struct {
	hdr unix.Msghdr
	len uint32
}

func newPacketSender(v *Pair, frames [][]byte) (_ *packetSender, err error) {
	s := &packetSender{fd: -1, bypass: v.hook != bench.Egress, messages: newMessages(frames)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("send by AF_PACKET: %w", err), s.Close())
		}
	}()
	s.drop, err = ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "drop", Type: ebpf.XDP, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, xdpDrop), asm.Return()},
	})
	if err != nil {
		return nil, err
	}
	if s.attached, err = attachXDP(v.near.Netns, v.near.Index, bench.XDPNative, s.drop); err != nil {
		return nil, err
	}
	if err := v.near.Netns.Do(s.open); err != nil {
		return nil, err
	}
	// Without a protocol the socket receives nothing.
	if err := unix.Bind(s.fd, &unix.SockaddrLinklayer{Ifindex: v.near.Index}); err != nil {
		return nil, fmt.Errorf("bind: %w", err)
	}
	return s, nil
}

func (s *packetSender) open() (err error) {
	if s.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, packetBuffer); err != nil {
		return fmt.Errorf("enlarge send buffer: %w", err)
	}
	if !s.bypass {
		return nil
	}
	return unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1)
}

func newMessages(frames [][]byte) []mmsghdr {
	var messages []mmsghdr
	for len(messages) < packetBatch {
		for _, frame := range frames {
			frame = bytes.Clone(frame)
			iov := unix.Iovec{Base: &frame[0]}
			iov.SetLen(len(frame))
			var m mmsghdr
			m.hdr.Iov = &iov
			m.hdr.SetIovlen(1)
			messages = append(messages, m)
		}
	}
	return messages
}

func (*packetSender) Name() string { return SenderAFPacket }

func (s *packetSender) Send(ctx context.Context, count int) (sent uint64, err error) {
	moved := time.Now()
	for left := count; left > 0; {
		next := s.messages[(count-left)%len(s.messages):]
		n, err := s.sendmmsg(next[:min(len(next), packetBatch, left)])
		switch {
		case err == nil && n > 0:
			moved = time.Now()
		case err == nil && time.Since(moved) > packetStuck:
			err = fmt.Errorf("nothing takes the packets: the send buffer has been full for %s", packetStuck)
		}
		if err == nil {
			left -= n
			err = s.drain()
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return uint64(count - left), fmt.Errorf("send by AF_PACKET: %w", err)
		}
	}
	return uint64(count), nil
}

// drain waits until the far end has taken what was sent, because its ring holds
// only a few batches. Normally the kernel makes it take packets at once, unless
// it defers that to a thread, which then needs this CPU.
func (s *packetSender) drain() error {
	for start := time.Now(); ; time.Sleep(packetPatience / 100) {
		waiting, err := unix.IoctlGetInt(s.fd, unix.SIOCOUTQ)
		if err != nil {
			return fmt.Errorf("read length of queue: %w", err)
		}
		if waiting == 0 || time.Since(start) > packetPatience {
			return nil
		}
	}
}

// sendmmsg gives packets to the driver and returns how many: none if a signal
// or a full send buffer intervened. If it returns fewer than all, the driver,
// or a program at the egress, has dropped the last of them.
func (s *packetSender) sendmmsg(messages []mmsghdr) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(s.fd),
		uintptr(unsafe.Pointer(&messages[0])), uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	switch {
	case errno == unix.EINTR, errno == unix.EAGAIN:
		return 0, nil
	case errno == unix.ENOBUFS:
		return 1, nil
	case errno != 0:
		return 0, errno
	}
	return min(int(n)+1, len(messages)), nil
}

func (s *packetSender) Close() error {
	var errs []error
	if s.attached != nil {
		errs = append(errs, s.attached.Close())
	}
	if s.fd >= 0 {
		errs = append(errs, unix.Close(s.fd))
	}
	return errors.Join(append(errs, s.drop.Close())...)
}
