//go:build linux

package sideband

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/thread"
)

// A process that has ended by the time of the reading has left its mappings, its children
// and their names.
func TestTellsOfProcessesThatHaveEnded(t *testing.T) {
	testenv.Root(t)
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("sh", "-c", "true; /bin/sleep 0.01; true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var events []Event
	if err := r.Run(ctx, func(e Event) { events = append(events, e) }); err != nil {
		t.Fatal(err)
	}
	if r.Lost() != 0 {
		t.Errorf("lost %d", r.Lost())
	}
	shell := uint32(cmd.Process.Pid)
	forked := slices.IndexFunc(events, func(e Event) bool { return e.Kind == Forked && e.Parent == shell && e.PID != shell })
	if forked < 0 {
		t.Fatalf("no child of %d in %d events", shell, len(events))
	}
	child := events[forked].PID
	executed := slices.IndexFunc(events, func(e Event) bool { return e.Kind == Named && e.PID == child && e.Exec && e.Name == "sleep" })
	mapped := slices.IndexFunc(events, func(e Event) bool {
		return e.Kind == Mapped && e.PID == child && filepath.Base(e.Mapping.Path) == "sleep" && e.Mapping.Inode != 0 && e.Mapping.Start < e.Mapping.End
	})
	ended := slices.IndexFunc(events, func(e Event) bool { return e.Kind == Ended && e.PID == child })
	if executed < forked || mapped < executed || ended < mapped {
		t.Errorf("forked, executed, mapped, ended are events %d, %d, %d, %d of %d", forked, executed, mapped, ended, len(events))
	}
	if !slices.IsSortedFunc(events, func(a, b Event) int { return int(int64(a.Time - b.Time)) }) {
		t.Error("not in the order of time")
	}
}

// Buffers that are written many times over, and read in between, are read whole: a record
// that goes on at the start of a buffer too.
func TestReadsRoundTheEndOfTheBuffer(t *testing.T) {
	testenv.Long(t, "starts 800 processes")
	testenv.Root(t)
	const pages = 4
	r, err := open(pages)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ends := map[uint32]int{}
	shells := map[uint32]bool{}
	for range 40 {
		cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 20 ]; do (:); i=$((i+1)); done")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		shells[uint32(cmd.Process.Pid)] = true
		if err := r.Read(func(e Event) {
			if e.Kind == Ended && e.PID != e.Parent {
				ends[e.Parent]++
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	for shell := range shells {
		if r.Lost() == 0 && ends[shell] != 20 {
			t.Errorf("%d of 20 children of %d ended", ends[shell], shell)
		}
	}
	for i, one := range r.rings {
		if rounds := one.page.Data_tail / uint64(len(one.data)); rounds < 2 {
			t.Logf("the buffer of CPU %d was written %d times", i, rounds)
		} else {
			return
		}
	}
	t.Error("no buffer was written twice")
}

// What a full buffer has no room for is counted.
func TestCountsWhatIsLost(t *testing.T) {
	testenv.Root(t)
	// On one CPU, each command writes to the buffer of those before it. The thread, which
	// stays locked, ends with the test.
	runtime.LockOSThread()
	if _, err := thread.Pin(); err != nil {
		t.Fatal(err)
	}
	r, err := open(1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	loop := "i=0; while [ $i -lt 300 ]; do (:); i=$((i+1)); done"
	if err := exec.Command("sh", "-c", loop).Run(); err != nil {
		t.Fatal(err)
	}
	// The kernel says it with the next event that fits.
	for range 2 {
		if err := r.Read(func(Event) {}); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("sh", "-c", "(:); (:); (:)").Run(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Read(func(Event) {}); err != nil || r.Lost() == 0 {
		t.Errorf("lost %d, error %v", r.Lost(), err)
	}
}

func TestParseCPUs(t *testing.T) {
	for text, want := range map[string][]int{"0\n": {0}, "0-1": {0, 1}, "0,2-3": {0, 2, 3}} {
		if got, err := parseCPUs(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "3-1", "0-", "0-99999999999", "-1"} {
		if got, err := parseCPUs(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x0a\x00\x00\x00\x02\x00\x20\x00aaaaaaaabbbbbbbbcccccccc"))
	f.Add(append([]byte("\x03\x00\x00\x00\x00\x20\x28\x00\x01\x00\x00\x00\x01\x00\x00\x00sleep\x00\x00\x00"), make([]byte, sampleID)...))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := decode(raw)
		if err == nil && len(raw) < headerSize+sampleID {
			t.Errorf("%d bytes are %+v", len(raw), e)
		}
		if len(e.Name) > len(raw) || len(e.Mapping.Path) > len(raw) {
			t.Errorf("%+v is of more than %d bytes", e, len(raw))
		}
	})
}
