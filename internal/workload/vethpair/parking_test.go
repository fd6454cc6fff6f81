package vethpair

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// setUp is far more than a test_run of a held program takes, and far less than
// patching the dispatcher does.
const setUp = time.Millisecond

func TestAHeldProgramRunsWithoutSetUp(t *testing.T) {
	prog := newXDP(t, "held", xdpPass)
	hold(t, newParking(t), prog)
	if took := fastest(func() { testRun(t, prog) }); took > setUp {
		t.Errorf("test_run took %v", took)
	}
}

func TestHeldProgramsReplaceEachOtherAtOnce(t *testing.T) {
	v, p := newPair(t, bench.XDPNative), newParking(t)
	base, head := newXDP(t, "base", xdpDrop), newXDP(t, "head", xdpPass)
	hold(t, p, base)
	hold(t, p, head)
	attach(t, v, base)

	if took := fastest(func() { attach(t, v, head); attach(t, v, base) }); took > setUp {
		t.Errorf("two attaches took %v", took)
	}
}

func TestAPlaceIsUsedAgain(t *testing.T) {
	p := newParking(t)
	for range 5 {
		prog := newXDP(t, "passing", xdpPass)
		held := hold(t, p, prog)
		if took := fastest(func() { testRun(t, prog) }); took > setUp {
			t.Errorf("test_run took %v", took)
		}
		for range 2 { // closing twice does no harm
			if err := held.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if len(p.places) != 2 {
		t.Errorf("%d places for one program at a time, want the 2 of a veth pair", len(p.places))
	}
}

func TestTheDispatcherIsFullAtLast(t *testing.T) {
	p := newParking(t)
	for range maxHeld {
		hold(t, p, newXDP(t, "one_of_many", xdpPass))
	}
	prog := newXDP(t, "one_too_many", xdpPass)
	if _, err := p.Hold(prog); !errors.Is(err, errNotHeld) {
		t.Errorf("got %v, want %v", err, errNotHeld)
	}
	testRun(t, prog)
}

func TestOnlyXDPProgramsAreHeld(t *testing.T) {
	p := newParking(t)
	filter, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter, Instructions: returning(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer filter.Close()
	if _, err := p.Hold(filter); !errors.Is(err, errNotHeld) {
		t.Errorf("got %v, want %v", err, errNotHeld)
	}
	hold(t, p, newXDP(t, "after", xdpPass))
}

func newParking(t testing.TB) *Parking {
	t.Helper()
	testenv.Root(t)
	p := new(Parking)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func hold(t testing.TB, p *Parking, prog *ebpf.Program) io.Closer {
	t.Helper()
	held, err := p.Hold(prog)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func testRun(t testing.TB, prog *ebpf.Program) {
	t.Helper()
	if _, err := prog.Run(&ebpf.RunOptions{Data: frame(64, 0), Repeat: 2}); err != nil {
		t.Fatal(err)
	}
}

// fastest returns the shortest of several times that fn takes, because the
// machine may be busy.
func fastest(fn func()) time.Duration {
	best := time.Hour
	for range 10 {
		start := time.Now()
		fn()
		best = min(best, time.Since(start))
	}
	return best
}
