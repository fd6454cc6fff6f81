package vethpair

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/features"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

var senders = []string{SenderLiveFrames, SenderAFPacket}

// forEachSender runs a test with every sender in every mode.
func forEachSender(t *testing.T, test func(t *testing.T, mode bench.VethMode, sender string)) {
	for _, mode := range modes {
		for _, sender := range senders {
			t.Run(fmt.Sprint(mode, "/", sender), func(t *testing.T) { test(t, mode, sender) })
		}
	}
}

func TestEveryPacketRunsTheProgram(t *testing.T) {
	actions := map[string]int32{"aborted": xdpAborted, "drop": xdpDrop, "pass": xdpPass, "tx": xdpTX}
	forEachSender(t, func(t *testing.T, mode bench.VethMode, sender string) {
		v := newPair(t, mode)
		s := newSender(t, v, sender, frame(64, 0), frame(1500, 0), frame(128, 0))
		for name, action := range actions {
			t.Run(name, func(t *testing.T) {
				prog := newXDP(t, name, action)
				attach(t, v, prog)
				for _, count := range []int{1, 63, 20_000} {
					driveAll(t, v, s, prog, count)
				}
			})
		}
	})
}

func TestFramesAreSentInTurn(t *testing.T) {
	forEachSender(t, func(t *testing.T, mode bench.VethMode, sender string) {
		const lengths = 5
		var frames [][]byte
		for i := range lengths {
			frames = append(frames, frame(60+i, 0))
		}
		v := newPair(t, mode)
		prog, seen := newLengthCounter(t)
		attach(t, v, prog)
		s := newSender(t, v, sender, frames...)
		// Twice, because each Send begins with the first frame.
		driveAll(t, v, s, prog, 10*lengths+2)
		driveAll(t, v, s, prog, 10*lengths+2)

		for i, want := range []uint64{22, 22, 20, 20, 20} {
			var n uint64
			if err := seen.Lookup(uint32(60+i), &n); err != nil {
				t.Fatal(err)
			}
			if n != want {
				t.Errorf("frame %d was seen %d times, want %d", i, n, want)
			}
		}
	})
}

func TestEachRunSeesThePacketAsItWasGiven(t *testing.T) {
	forEachSender(t, func(t *testing.T, mode bench.VethMode, sender string) {
		for name, frames := range map[string][][]byte{
			"one":   {frame(64, 7)},
			"mixed": {frame(64, 7), frame(200, 7)},
		} {
			for _, action := range []int32{xdpDrop, xdpPass, xdpTX} {
				t.Run(fmt.Sprint(name, "/", action), func(t *testing.T) {
					v := newPair(t, mode)
					prog, edited := newEditor(t, 7, action)
					attach(t, v, prog)
					s := newSender(t, v, sender, frames...)
					driveAll(t, v, s, prog, 1000)
					var n uint64
					if err := edited.Lookup(uint32(0), &n); err != nil {
						t.Fatal(err)
					}
					if n != 0 {
						t.Errorf("%d of 1000 packets carried edits of an earlier run", n)
					}
				})
			}
		}
	})
}

func TestFramesOfAnyLengthThatAPairCarries(t *testing.T) {
	forEachSender(t, func(t *testing.T, mode bench.VethMode, sender string) {
		v := newPair(t, mode)
		prog := newXDP(t, "pass", xdpPass)
		attach(t, v, prog)
		s := newSender(t, v, sender, frame(packet.MinFrame, 0), frame(maxFrame, 0))
		driveAll(t, v, s, prog, 1000)
	})
}

func TestASenderRefusesWhatItCannotSend(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	for _, test := range []struct {
		name   string
		frames [][]byte
		want   string
	}{
		{"", nil, "no packets"},
		{"", [][]byte{frame(64, 0), frame(maxFrame+1, 0)}, "packet 2 has 3001 bytes"},
		{"", [][]byte{make([]byte, packet.MinFrame-1)}, "packet 1 has 13 bytes"},
		{"pigeon", [][]byte{frame(64, 0)}, `sender "pigeon"`},
	} {
		s, err := v.NewSender(test.name, test.frames)
		workloadtest.WantError(t, err, test.want)
		if s != nil {
			t.Errorf("got sender %v with an error", s)
		}
	}
}

func TestTheDefaultIsTheFastestSender(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	want := SenderLiveFrames
	if errors.Is(features.HaveProgramHelper(ebpf.XDP, asm.FnXdpStoreBytes), ebpf.ErrNotSupported) {
		want = SenderAFPacket
	}
	if got := newSender(t, v, "", frame(64, 0)).Name(); got != want {
		t.Errorf("sender %s, want %s", got, want)
	}
}

func TestAPairTakesOneSenderAfterAnother(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	prog := newXDP(t, "drop", xdpDrop)
	attach(t, v, prog)
	for _, name := range []string{SenderAFPacket, "", SenderAFPacket} {
		s, err := v.NewSender(name, [][]byte{frame(64, 0)})
		if err != nil {
			t.Fatal(err)
		}
		driveAll(t, v, s, prog, 100)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// newSender makes a sender. It skips the test on a kernel without that sender,
// but only if the kernel is too old for it.
func newSender(t testing.TB, v *Pair, name string, frames ...[]byte) Sender {
	t.Helper()
	s, err := v.NewSender(name, frames)
	if errors.Is(err, ebpf.ErrNotSupported) && kernelIsBefore(t, 5, 18) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func kernelIsBefore(t testing.TB, major, minor uint32) bool {
	t.Helper()
	code, err := features.LinuxVersionCode()
	if err != nil {
		t.Fatal(err)
	}
	return code < major<<16|minor<<8
}

// newLengthCounter loads a program that counts packets by their length.
func newLengthCounter(t *testing.T) (*ebpf.Program, *ebpf.Map) {
	t.Helper()
	seen := newCounters(t, maxFrame+1)
	insns := asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word),
		asm.LoadMem(asm.R3, asm.R1, 4, asm.Word),
		asm.Sub.Reg(asm.R3, asm.R2),
		asm.StoreMem(asm.RFP, -4, asm.R3, asm.Word),
	}
	insns = append(insns, countKey(seen)...)
	insns = append(insns, asm.Mov.Imm(asm.R0, xdpDrop).WithSymbol("out"), asm.Return())
	return loadXDP(t, &ebpf.ProgramSpec{Name: "lengths", Type: ebpf.XDP, License: "GPL", Instructions: insns}), seen
}

// newEditor loads a program that counts packets without mark in the place where
// frame puts it, and then changes a packet as much as it can.
func newEditor(t *testing.T, mark byte, retval int32) (*ebpf.Program, *ebpf.Map) {
	t.Helper()
	edited := newCounters(t, 1)
	insns := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R2, asm.R6, 0, asm.Word),
		asm.LoadMem(asm.R3, asm.R6, 4, asm.Word),
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, 16),
		asm.JGT.Reg(asm.R4, asm.R3, "count"),
		asm.LoadMem(asm.R5, asm.R2, 14, asm.Byte),
		asm.StoreImm(asm.R2, 14, 0xee, asm.Byte),
		asm.JEq.Imm(asm.R5, int32(mark), "shrink"),
		asm.StoreImm(asm.RFP, -4, 0, asm.Word).WithSymbol("count"),
	}
	insns = append(insns, countKey(edited)...)
	insns = append(insns,
		asm.Mov.Reg(asm.R1, asm.R6).WithSymbol("shrink"),
		asm.Mov.Imm(asm.R2, 8),
		asm.FnXdpAdjustHead.Call(),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, -8),
		asm.FnXdpAdjustTail.Call(),
		asm.Mov.Imm(asm.R0, retval).WithSymbol("out"),
		asm.Return(),
	)
	return loadXDP(t, &ebpf.ProgramSpec{Name: "edit", Type: ebpf.XDP, License: "GPL", Instructions: insns}), edited
}

func newCounters(t *testing.T, n uint32) *ebpf.Map {
	t.Helper()
	counters, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: n})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { counters.Close() })
	return counters
}

// countKey increments the element of an array whose key is at the top of the
// stack, or goes to out if there is none.
func countKey(counters *ebpf.Map) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, counters.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
	}
}
