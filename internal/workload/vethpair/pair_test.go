package vethpair

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/network"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

var modes = []bench.VethMode{bench.XDPNative, bench.XDPGeneric}

func TestAttachReplacesTheProgram(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			v := newPair(t, mode)
			first, second := newXDP(t, "first", xdpDrop), newXDP(t, "second", xdpPass)
			s := newSender(t, v, SenderAFPacket, frame(64, 0))
			for _, prog := range []*ebpf.Program{first, second, first} {
				attach(t, v, prog)
				driveAll(t, v, s, prog, 100)
			}
		})
	}
}

func TestAttachNamesWhatIsWrong(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	filter, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter, Instructions: returning(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer filter.Close()
	workloadtest.WantError(t, v.Attach(filter), "attach to veth")
}

func TestNothingArrivesUnsent(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	prog := newXDP(t, "drop", xdpDrop)
	attach(t, v, prog)
	time.Sleep(1500 * time.Millisecond)
	if n := runCount(t, prog); n != 0 {
		t.Errorf("program ran %d times on packets that nobody sent", n)
	}
}

func TestPacketsForAnEndThatIsDownAreDropped(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	prog := newXDP(t, "drop", xdpDrop)
	attach(t, v, prog)
	s := newSender(t, v, SenderAFPacket, frame(64, 0))
	setDown(t, &v.far)

	// What one send has lost is not counted again.
	for range 3 {
		if got, want := drive(t, v, s, prog, 1000), (bench.Traffic{Sent: 1000, Dropped: 1000}); got != want {
			t.Errorf("traffic %+v, want %+v", got, want)
		}
	}
}

func TestPacketsForAFullRingAreDropped(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	// The kernel defers what takes long, and goes on to fill the ring.
	prog := loadXDP(t, &ebpf.ProgramSpec{Name: "slow", Type: ebpf.XDP, License: "GPL", Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R1, 100_000),
		asm.Sub.Imm(asm.R1, 1).WithSymbol("loop"),
		asm.JNE.Imm(asm.R1, 0, "loop"),
		asm.Mov.Imm(asm.R0, xdpDrop),
		asm.Return(),
	}})
	attach(t, v, prog)
	s := newSender(t, v, SenderLiveFrames, frame(64, 0))
	s.(*liveSender).batch = 256 // all that the ring holds

	workloadtest.WaitUntil(t, "the ring to overflow", func() bool {
		traffic := drive(t, v, s, prog, 2000)
		if traffic.Unaccounted != 0 {
			t.Fatalf("unaccounted packets in %+v", traffic)
		}
		return traffic.Dropped > 0
	})
}

func TestMissingPacketsAreUnaccounted(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	got, err := v.Settle(t.Context(), 1000, func() (uint64, error) { return 990, nil })
	if err != nil {
		t.Fatal(err)
	}
	if want := (bench.Traffic{Sent: 1000, Run: 990, Unaccounted: 10}); got != want {
		t.Errorf("traffic %+v, want %+v", got, want)
	}
}

func TestSettleWaitsForPacketsThatAreOnTheirWay(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	// Slower than the patience of Settle in all, but each step is not.
	start := time.Now()
	got, err := v.Settle(t.Context(), 10, func() (uint64, error) {
		return min(10, uint64(time.Since(start)/(settlePatience/4))), nil
	})
	if want := (bench.Traffic{Sent: 10, Run: 10}); err != nil || got != want {
		t.Errorf("traffic %+v (%v), want %+v", got, err, want)
	}
}

func TestSettlePassesOnAnError(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	want := errors.New("no such program")
	if _, err := v.Settle(t.Context(), 1, func() (uint64, error) { return 0, want }); !errors.Is(err, want) {
		t.Errorf("Settle returned %v, want %v", err, want)
	}
}

func TestNetlinkAttachesToo(t *testing.T) {
	for mode, flags := range map[bench.VethMode]link.XDPAttachFlags{
		bench.XDPNative: link.XDPDriverMode, bench.XDPGeneric: link.XDPGenericMode,
	} {
		t.Run(string(mode), func(t *testing.T) {
			v := newPair(t, mode)
			v.attached = &netlinkXDP{v.far.Netns, v.far.Index, flags}
			s := newSender(t, v, SenderAFPacket, frame(64, 0))
			first, second := newXDP(t, "first", xdpDrop), newXDP(t, "second", xdpPass)
			for _, prog := range []*ebpf.Program{first, second} {
				attach(t, v, prog)
				driveAll(t, v, s, prog, 100)
			}
			if err := v.attached.Close(); err != nil {
				t.Fatal(err)
			}
			if traffic := drive(t, v, s, second, 100); traffic.Run != 0 {
				t.Errorf("program ran %d times after it was detached", traffic.Run)
			}
		})
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	v := newPair(t, bench.XDPNative)
	name := witnessName(os.Getpid())
	bearWitness(v, newXDP(t, name, xdpDrop))
	if programsNamed(t, name) == 0 {
		t.Fatal("the pair does not keep its program")
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	workloadtest.WaitUntil(t, "the pair to go with its program", func() bool { return programsNamed(t, name) == 0 })
}

func TestAKilledToolLeavesNothing(t *testing.T) {
	testenv.Root(t)
	tool := workloadtest.StartTool(t, "veth")
	name := witnessName(tool.Pid)
	if n := programsNamed(t, name); n != 3 {
		t.Fatalf("the tool holds %d programs, want 3", n)
	}
	if err := tool.Kill(); err != nil {
		t.Fatal(err)
	}
	workloadtest.WaitUntil(t, "the tool's interfaces to go with their programs", func() bool { return programsNamed(t, name) == 0 })
}

// holdPair is a tool that has attached programs in every possible way.
func holdPair() {
	workloadtest.Check(rlimit.RemoveMemlock())
	load := func() *ebpf.Program {
		return workloadtest.Must(ebpf.NewProgram(xdpSpec(witnessName(os.Getpid()), xdpDrop)))
	}
	workloadtest.Must(new(Parking).Hold(load()))

	generic := workloadtest.Must(New(bench.XDPGeneric, bench.Ingress))
	workloadtest.Check(generic.Attach(load()))

	native := workloadtest.Must(New(bench.XDPNative, bench.Ingress))
	workloadtest.Must(native.NewSender("", [][]byte{frame(64, 0)}))
	bearWitness(native, load())
}

// bearWitness attaches a program to the far end in such a way that only the end
// of the interface detaches it. Then it releases the program.
func bearWitness(v *Pair, prog *ebpf.Program) {
	witness := &netlinkXDP{v.far.Netns, v.far.Index, link.XDPDriverMode}
	workloadtest.Check(witness.Update(prog))
	workloadtest.Check(prog.Close())
}

func witnessName(pid int) string { return fmt.Sprint("witness", pid) }

// programsNamed is the number of programs of that name in the kernel.
func programsNamed(t *testing.T, name string) (n int) {
	t.Helper()
	for id := ebpf.ProgramID(0); ; {
		var err error
		if id, err = ebpf.ProgramGetNextID(id); errors.Is(err, os.ErrNotExist) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
		prog, err := ebpf.NewProgramFromID(id)
		if err != nil {
			continue // it has just gone
		}
		if info, err := prog.Info(); err == nil && info.Name == name {
			n++
		}
		prog.Close()
	}
}

func setDown(t *testing.T, e *network.End) {
	t.Helper()
	iface := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: e.Index}}
	if err := e.Netlink.LinkSetDown(iface); err != nil {
		t.Fatal(err)
	}
}

func newPair(t testing.TB, mode bench.VethMode) *Pair {
	t.Helper()
	return newPairAt(t, mode, bench.Ingress)
}

func newPairAt(t testing.TB, mode bench.VethMode, hook bench.Hook) *Pair {
	t.Helper()
	testenv.Root(t)
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stats.Close() })
	v, err := New(mode, hook)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return v
}

func attach(t testing.TB, v *Pair, prog *ebpf.Program) {
	t.Helper()
	if err := v.Attach(prog); err != nil {
		t.Fatal(err)
	}
}

// drive sends count packets to the program and accounts for them.
func drive(t testing.TB, v *Pair, s Sender, prog *ebpf.Program, count int) bench.Traffic {
	t.Helper()
	before := runCount(t, prog)
	sent, err := s.Send(t.Context(), count)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := v.Settle(t.Context(), sent, func() (uint64, error) { return runCount(t, prog) - before, nil })
	if err != nil {
		t.Fatal(err)
	}
	return traffic
}

// driveAll is drive for packets that must all run the program. It tries again
// if a busy machine made the driver drop some.
func driveAll(t testing.TB, v *Pair, s Sender, prog *ebpf.Program, count int) {
	t.Helper()
	want := bench.Traffic{Sent: uint64(count), Run: uint64(count)}
	var got bench.Traffic
	for range 5 {
		got = drive(t, v, s, prog, count)
		if got == want {
			return
		}
		if got.Sent != want.Sent || got.Unaccounted != 0 {
			break
		}
	}
	t.Errorf("traffic %+v, want %+v", got, want)
}

func runCount(t testing.TB, prog *ebpf.Program) uint64 {
	t.Helper()
	stats, err := prog.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return stats.RunCount
}

func newXDP(t testing.TB, name string, retval int32) *ebpf.Program {
	t.Helper()
	return loadXDP(t, xdpSpec(name, retval))
}

func loadXDP(t testing.TB, spec *ebpf.ProgramSpec) *ebpf.Program {
	t.Helper()
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	prog, err := ebpf.NewProgram(spec)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() { prog.Close() })
	return prog
}

func xdpSpec(name string, retval int32) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{Name: name, Type: ebpf.XDP, License: "GPL", Instructions: returning(retval)}
}

func returning(retval int32) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, retval), asm.Return()}
}

// frame returns a frame of a UDP packet that is addressed to nobody. Its byte
// 14 is mark, and the bytes after that count up from it.
func frame(size int, mark byte) []byte {
	f := make([]byte, size)
	copy(f, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0})
	for i := 14; i < len(f); i++ {
		f[i] = mark + byte(i-14)
	}
	return f
}
