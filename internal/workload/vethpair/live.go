package vethpair

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
)

const (
	// liveBatch is the number of frames between two chances for the far end to
	// take them. Its ring holds 256: a quarter leaves room for when the kernel
	// defers the far end's work, and costs nothing.
	liveBatch = 64
	// liveRepeat is the number of frames in one call. A call that a signal
	// interrupts starts over, so it must be shorter than the time between two
	// signals of a profiler.
	liveRepeat = 1 << 14
)

// liveSender sends frames by running its own XDP program in live frames mode
// (Linux 5.18), which makes a packet of each run.
type liveSender struct {
	turn *ebpf.Map
	prog *ebpf.Program
	// attached holds prog in the XDP dispatcher, where a call finds it without
	// milliseconds of set-up. It also makes the near end poll, which it needs
	// in order to take packets that the far end sends back.
	attached attachment
	// data is as long as the longest frame.
	data  []byte
	batch uint32
}

// liveTurn is the only value of the map that steers the program: how many
// packets it may still send, and the index of the next frame. The credit makes
// Send exact however often the kernel runs the program.
type liveTurn struct {
	Credit uint64
	Next   uint32
	_      uint32
}

func newLiveSender(v *Pair, frames [][]byte) (_ *liveSender, err error) {
	s := &liveSender{
		data:  make([]byte, len(slices.MaxFunc(frames, byLength))),
		batch: liveBatch,
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("send live frames: %w", err), s.Close())
		}
	}()
	// This helper came with live frames, and the program calls it.
	if err := features.HaveProgramHelper(ebpf.XDP, asm.FnXdpStoreBytes); errors.Is(err, ebpf.ErrNotSupported) {
		return nil, ebpf.ErrNotSupported
	} else if err != nil {
		return nil, err
	}
	if err := s.load(v, frames); err != nil {
		return nil, err
	}
	if s.attached, err = attachXDP(v.near.Netns, v.near.Index, bench.XDPNative, s.prog); err != nil {
		return nil, err
	}
	// The program has no credit yet, so this only asks the kernel.
	if err := s.run(1); errors.Is(err, unix.EINVAL) {
		return nil, fmt.Errorf("%w: %w", ebpf.ErrNotSupported, err)
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

func byLength(a, b []byte) int { return len(a) - len(b) }

// load loads the program and its maps. The program keeps alive those that only
// it uses.
func (s *liveSender) load(v *Pair, frames [][]byte) (err error) {
	s.turn, err = ebpf.NewMap(&ebpf.MapSpec{
		Name: "turn", Type: ebpf.Array,
		KeySize: 4, ValueSize: uint32(binary.Size(liveTurn{})), MaxEntries: 1,
	})
	if err != nil {
		return err
	}

	framesMap, err := newLiveFrames(frames, len(s.data))
	if err != nil {
		return err
	}
	defer framesMap.Close()

	// A DEVMAP finds the near end from any network namespace.
	target, err := ebpf.NewMap(&ebpf.MapSpec{Name: "target", Type: ebpf.DevMap, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if err != nil {
		return err
	}
	defer target.Close()
	err = v.near.Netns.Do(func() error {
		return target.Put(uint32(0), uint32(v.near.Index))
	})
	if err != nil {
		return err
	}

	s.prog, err = ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "send_live", Type: ebpf.XDP, License: "GPL",
		Instructions: liveProgram{
			near:   v.near.Index,
			frames: len(frames), longest: len(s.data),
			mixed: len(slices.MinFunc(frames, byLength)) != len(s.data),
			turn:  s.turn.FD(), framesMap: framesMap.FD(), target: target.FD(),
		}.instructions(),
	})
	return err
}

func (*liveSender) Name() string { return SenderLiveFrames }

func (s *liveSender) Send(ctx context.Context, count int) (sent uint64, err error) {
	turn := liveTurn{Credit: uint64(count)}
	if err := s.turn.Put(uint32(0), &turn); err != nil {
		return 0, fmt.Errorf("send live frames: %w", err)
	}
	for left := count; left > 0 && err == nil; left -= liveRepeat {
		if err = s.run(min(left, liveRepeat)); err == nil {
			err = ctx.Err()
		}
	}
	if err := errors.Join(err, s.turn.Lookup(uint32(0), &turn)); err != nil {
		return uint64(count) - turn.Credit, fmt.Errorf("send live frames: %w", err)
	}
	return uint64(count) - turn.Credit, nil
}

func (s *liveSender) run(repeat int) error {
	_, err := s.prog.Run(&ebpf.RunOptions{
		Data:      s.data,
		Repeat:    uint32(repeat),
		Flags:     unix.BPF_F_TEST_XDP_LIVE_FRAMES,
		BatchSize: s.batch,
	})
	return err
}

func (s *liveSender) Close() error {
	var errs []error
	if s.attached != nil {
		errs = append(errs, s.attached.Close())
	}
	return errors.Join(append(errs, s.prog.Close(), s.turn.Close())...)
}
