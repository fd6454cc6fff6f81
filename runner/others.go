package runner

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/org/ebpf-bench-action/internal/thread"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/driver"
)

const (
	// A hook is watched without its load for as long as the load takes, within
	// these bounds: a hook that is called rarely has long slices anyway.
	minQuiet = 20 * time.Millisecond
	maxQuiet = 2 * time.Second
	// A share of runs for others of up to fewOthers is not worth a warning;
	// from mostlyOthers on, the load hardly seems to call the hook.
	fewOthers    = 0.01
	mostlyOthers = 0.5
)

// besideSlices is in how many slices a program must run as often as the track's to
// be named: one on another hook may do so once by chance.
const besideSlices = 2

// nameOthers warns of the programs of others that run in each event of a shared
// hook: the figure is that beside them.
func (d *driven) nameOthers(ctx context.Context) {
	if !d.live() || d.last.RunCnt == 0 || !d.subject.SharesHook() {
		return
	}
	times := map[string]int{}
	for range besideSlices {
		names, err := d.subject.Beside(ctx)
		if err != nil {
			return // the next slice fails, too, and says why
		}
		for _, name := range names {
			times[name]++
		}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if times[name] == besideSlices {
			all = append(all, name)
		}
	}
	if len(all) > 0 {
		d.warn("each event also ran what others attached: " + unit.Few(all) + "; the figure is that beside them")
	}
}

// watchOthers measures how often the program runs without its load, and
// warns if the figures include such runs. The latest slice must be one with the
// load.
func (d *driven) watchOthers(ctx context.Context) {
	if !d.live() || d.last.RunCnt == 0 {
		return
	}
	if _, ok := d.subject.Driver.(driver.MachineWide); !ok {
		return
	}
	quiet := min(max(d.wall, minQuiet), maxQuiet)
	before, err := driver.ReadCounters(d.subject.Program)
	if err == nil {
		err = thread.Wait(ctx, quiet)
	}
	after, err2 := driver.ReadCounters(d.subject.Program)
	if err != nil || err2 != nil {
		return // the next slice fails, too, and says why
	}
	expected := float64(after.Since(before).RunCnt) * d.wall.Seconds() / quiet.Seconds()
	switch share := expected / float64(d.last.RunCnt); {
	case share >= mostlyOthers:
		d.warn("most runs are for other processes of the machine: the load may not call the hook at all; choose another by load, syscall or run")
	case share > fewOthers:
		d.warn("about " + unit.Share(share) + " of the runs are for other processes: the whole machine calls the hook")
	}
}
