package vethpair

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
)

// The names of the senders, as a suite file spells them.
const (
	SenderLiveFrames = "live_frames"
	SenderAFPacket   = "af_packet"
)

// Sender sends a list of frames from the near end of a Pair.
type Sender interface {
	// Name is SenderLiveFrames or SenderAFPacket.
	Name() string
	// Send sends count packets: each of the frames in turn, beginning with
	// the first one, always as it was given. It returns how many packets
	// really went to the veth driver, also when it fails, as it does when ctx is
	// cancelled.
	Send(ctx context.Context, count int) (sent uint64, err error)
	// Close ends the sender. The Pair may have another one then.
	Close() error
}

// NewSender makes the sender of that name, or the fastest one that the kernel
// has if name is empty. A Pair has one sender at a time.
func (v *Pair) NewSender(name string, frames [][]byte) (Sender, error) {
	if err := checkFrames(frames); err != nil {
		return nil, err
	}
	if v.mode.IsTC() {
		// Live frames are for the ring that XDP polls: they pass the near end's
		// egress by, and a far end that merges them may be needed to take them.
		if name == SenderLiveFrames {
			return nil, errors.New("live frames reach xdp programs only: tc programs get packets by af_packet")
		}
		name = SenderAFPacket
	}
	switch name {
	case SenderAFPacket:
		return asSender(newPacketSender(v, frames))
	case SenderLiveFrames:
		sender, err := asSender(newLiveSender(v, frames))
		if errors.Is(err, ebpf.ErrNotSupported) {
			err = bench.WithHint(err, "Live frames came with Linux 5.18: leave sender empty to send by AF_PACKET on older kernels.")
		}
		return sender, err
	case "":
		sender, err := asSender(newLiveSender(v, frames))
		if errors.Is(err, ebpf.ErrNotSupported) {
			return asSender(newPacketSender(v, frames))
		}
		return sender, err
	}
	return nil, fmt.Errorf("sender %q is neither %s nor %s", name, SenderLiveFrames, SenderAFPacket)
}

// asSender keeps a nil pointer from becoming a Sender that is not nil.
func asSender[S Sender](sender S, err error) (Sender, error) {
	if err != nil {
		return nil, err
	}
	return sender, nil
}

func checkFrames(frames [][]byte) error {
	if len(frames) == 0 {
		return errors.New("no packets to send")
	}
	for i, frame := range frames {
		if len(frame) < packet.MinFrame || len(frame) > maxFrame {
			return fmt.Errorf("packet %d has %d bytes: a veth pair carries %d to %d", i+1, len(frame), packet.MinFrame, maxFrame)
		}
	}
	return nil
}
