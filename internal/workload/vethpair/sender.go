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
	// Send sends count packets: each of the frames in turn, starting with the
	// first one, always in its original form. It returns how many packets
	// really went to the veth driver, even if it fails, as it does when ctx is
	// cancelled.
	Send(ctx context.Context, count int) (sent uint64, err error)
	// Close ends the sender. After that, the Pair may have another one.
	Close() error
}

// NewSender makes the sender of that name or, if name is empty, the fastest one
// that the kernel supports. A Pair has one sender at a time.
func (v *Pair) NewSender(name string, frames [][]byte) (Sender, error) {
	if err := CheckFrames(frames); err != nil {
		return nil, err
	}
	if v.mode.IsTC() {
		// Live frames are for the ring that XDP polls: they bypass the near
		// end's egress, and a far end that merges them may be needed to take
		// them.
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
			err = bench.WithHint(err, "live frames came with Linux 5.18: leave sender empty to send by AF_PACKET on older kernels")
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

// asSender returns a nil Sender, not a nil pointer in one, if there is an
// error.
func asSender[S Sender](sender S, err error) (Sender, error) {
	if err != nil {
		return nil, err
	}
	return sender, nil
}

// CheckFrames refuses packets that a Pair cannot carry.
func CheckFrames(frames [][]byte) error {
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
