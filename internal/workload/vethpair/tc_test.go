package vethpair

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/workload/workloadtest"
)

// The verdicts of tc programs.
const (
	tcOK     = 0
	tcShot   = 2
	tcStolen = 4
	tcUnspec = -1
)

// forEachTC runs a test on every hook of tc in every mode.
func forEachTC(t *testing.T, test func(t *testing.T, v *Pair)) {
	for _, mode := range []bench.VethMode{bench.TC, bench.TCX} {
		for _, hook := range []bench.Hook{bench.Ingress, bench.Egress} {
			t.Run(fmt.Sprint(mode, "/", hook), func(t *testing.T) {
				if mode == bench.TCX && kernelIsBefore(t, 6, 6) {
					t.Skip("tcx came with Linux 6.6")
				}
				test(t, newPairAt(t, mode, hook))
			})
		}
	}
}

func TestEveryPacketRunsTheTCProgram(t *testing.T) {
	verdicts := map[string]int32{"ok": tcOK, "shot": tcShot, "stolen": tcStolen, "unspec": tcUnspec}
	forEachTC(t, func(t *testing.T, v *Pair) {
		s := newSender(t, v, "", frame(64, 0), frame(1500, 0), frame(128, 0))
		if s.Name() != SenderAFPacket {
			t.Errorf("sent by %s", s.Name())
		}
		for name, verdict := range verdicts {
			t.Run(name, func(t *testing.T) {
				prog := newTC(t, name, verdict)
				attach(t, v, prog)
				for _, count := range []int{1, 63, 5000} {
					driveAll(t, v, s, prog, count)
				}
			})
		}
	})
}

func TestADetachedTCProgramSeesNothing(t *testing.T) {
	forEachTC(t, func(t *testing.T, v *Pair) {
		s := newSender(t, v, "", frame(64, 0))
		prog := newTC(t, "first", tcOK)
		attach(t, v, prog)
		driveAll(t, v, s, prog, 10)
		if err := v.Detach(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Send(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		if n := runCount(t, prog); n != 10 {
			t.Errorf("%d runs after 10 packets before it was detached, and 10 after", n)
		}
		// The hook is free again.
		again := newTC(t, "again", tcOK)
		attach(t, v, again)
		driveAll(t, v, s, again, 10)
	})
}

func TestTCProgramsHaveNoLiveFrames(t *testing.T) {
	v := newPairAt(t, bench.TC, bench.Ingress)
	_, err := v.NewSender(SenderLiveFrames, [][]byte{frame(64, 0)})
	workloadtest.WantError(t, err, "live frames reach xdp programs only")
}

// If something keeps packets for good, a sender fails rather than wait for
// good.
func TestAFullSendBufferIsWaitedForButNotForever(t *testing.T) {
	v := newPairAt(t, bench.TC, bench.Egress)
	s := newSender(t, v, "", frame(1400, 0))
	err := v.near.Netlink.QdiscAdd(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: v.near.Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       400, Buffer: 1<<32 - 1, Limit: 1 << 30, // a packet, and then another one in 3.5 s
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("this kernel has no token bucket filter: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	sent, err := s.Send(t.Context(), 20_000)
	workloadtest.WantError(t, err, "nothing takes the packets")
	if sent == 0 || sent == 20_000 {
		t.Errorf("%d packets were sent into a full buffer", sent)
	}
}

func TestAKilledToolLeavesNoTCProgram(t *testing.T) {
	testenv.Root(t)
	tool := workloadtest.StartTool(t, "tc")
	name := witnessName(tool.Pid)
	if n := programsNamed(t, name); n != 1 {
		t.Fatalf("the tool holds %d programs, want 1", n)
	}
	if err := tool.Kill(); err != nil {
		t.Fatal(err)
	}
	workloadtest.WaitUntil(t, "the tool's interfaces to go with their programs", func() bool { return programsNamed(t, name) == 0 })
}

// holdTC is a tool that has attached a program as a filter, and released it.
func holdTC() {
	v := workloadtest.Must(New(bench.TC, bench.Ingress))
	prog := workloadtest.Must(ebpf.NewProgram(tcSpec(witnessName(os.Getpid()), tcOK)))
	workloadtest.Check(v.Attach(prog))
	workloadtest.Check(prog.Close())
}

func tcSpec(name string, verdict int32) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{Name: name, Type: ebpf.SchedCLS, License: "GPL", Instructions: returning(verdict)}
}

func newTC(t testing.TB, name string, verdict int32) *ebpf.Program {
	t.Helper()
	return loadXDP(t, tcSpec(name, verdict))
}
