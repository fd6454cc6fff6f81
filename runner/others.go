package runner

import (
	"context"
	"time"

	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

const (
	// A hook is watched without its load for as long as the load takes, within these
	// bounds: what calls it rarely is in long slices all the same.
	minQuiet = 20 * time.Millisecond
	maxQuiet = 2 * time.Second
	// fewOthers is the share of runs for others that is not worth a word, mostly
	// that from which the load hardly seems to call the hook.
	fewOthers    = 0.01
	mostlyOthers = 0.5
)

// watchOthers looks how often a track's program runs without its load, and warns
// if that is in the figures. The latest slice is one with it.
func (t *track) watchOthers(ctx context.Context) {
	if !t.live() || t.last.RunCnt == 0 {
		return
	}
	if _, ok := t.subject.Driver.(drive.MachineWide); !ok {
		return
	}
	quiet := min(max(t.wall, minQuiet), maxQuiet)
	before, err := drive.ReadCounters(t.subject.Program)
	if err == nil {
		err = thread.Wait(ctx, quiet)
	}
	after, err2 := drive.ReadCounters(t.subject.Program)
	if err != nil || err2 != nil {
		return // the next slice fails too, and says why
	}
	expected := float64(after.Since(before).RunCnt) * t.wall.Seconds() / quiet.Seconds()
	switch share := expected / float64(t.last.RunCnt); {
	case share >= mostlyOthers:
		t.warn("most runs are for other processes of the machine: the load may not call the hook at all; choose another by load, syscall or run")
	case share > fewOthers:
		t.warn("about " + unit.Share(share) + " of the runs are for other processes: the whole machine calls the hook")
	}
}
