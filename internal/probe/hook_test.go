package probe

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
)

// A hook that takes a program and never runs it is not a hook.
func TestFiresAnswersNoWhereNothingIsRun(t *testing.T) {
	needRoot(t)
	idle := func(*ebpf.Program) (io.Closer, error) { return nothing{}, nil }
	triggered := 0
	err := fires(ebpf.ProgramSpec{Type: ebpf.SocketFilter}, idle, func() error { triggered++; return nil })
	if answer(err) != No || !errors.Is(err, errNeverRun) {
		t.Errorf("answers %s: %v", answer(err), err)
	}
	if triggered < 2 {
		t.Errorf("was triggered %d times", triggered)
	}
}

func TestFiresAnswersUnknownWhereTheTriggerBreaks(t *testing.T) {
	needRoot(t)
	idle := func(*ebpf.Program) (io.Closer, error) { return nothing{}, nil }
	err := fires(ebpf.ProgramSpec{Type: ebpf.SocketFilter}, idle, func() error { return io.ErrUnexpectedEOF })
	if answer(err) != Unknown || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("answers %s: %v", answer(err), err)
	}
}

// A test run stands in for the hook, and comes late as a packet may.
func TestFiresWaitsForTheFirstRun(t *testing.T) {
	needRoot(t)
	var prog *ebpf.Program
	attach := func(p *ebpf.Program) (io.Closer, error) { prog = p; return nothing{}, nil }
	triggered := 0
	err := fires(ebpf.ProgramSpec{Type: ebpf.SchedCLS}, attach, func() error {
		if triggered++; triggered < 3 {
			return nil
		}
		return testRun(prog, ebpf.RunOptions{})
	})
	if err != nil || triggered != 3 {
		t.Errorf("was triggered %d times: %v", triggered, err)
	}
}

// A mount that nobody sees can be read through its descriptor.
func TestDetachedMount(t *testing.T) {
	needRoot(t)
	dir, err := detachedMount("proc")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	text, err := readAt(dir, "self/comm")
	if err != nil || !strings.Contains(text, "probe") {
		t.Errorf("reads %q: %v", text, err)
	}
	if _, err := detachedMount("nosuchfs"); answer(err) != No {
		t.Errorf("a file system that no kernel has: %v", err)
	}
}
