//go:build linux

package profile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/profile/sideband"
	perfprofiler "github.com/org/ebpf-bench-action/programs/perf_profiler"
)

func (p *process) String() string {
	var parts []string
	for _, m := range p.maps {
		parts = append(parts, fmt.Sprintf("%s:%d-%d+%d", m.Path, m.Start, m.End, m.Offset))
	}
	return strings.Join(parts, " ")
}

// A mapping replaces what it covers.
func TestMappingsReplaceWhatTheyCover(t *testing.T) {
	for _, c := range []struct {
		add  []sideband.Mapping
		want string
	}{
		{[]sideband.Mapping{{Start: 10, End: 20, Path: "a"}, {Start: 30, End: 40, Path: "b"}}, "a:10-20+0 b:30-40+0"},
		{[]sideband.Mapping{{Start: 30, End: 40, Path: "b"}, {Start: 10, End: 20, Path: "a"}}, "a:10-20+0 b:30-40+0"},
		{[]sideband.Mapping{{Start: 10, End: 40, Path: "a"}, {Start: 20, End: 30, Path: "b"}}, "a:10-20+0 b:20-30+0 a:30-40+20"},
		{[]sideband.Mapping{{Start: 10, End: 20, Path: "a"}, {Start: 20, End: 30, Path: "b"}, {Start: 15, End: 25, Path: "c"}}, "a:10-15+0 c:15-25+0 b:25-30+5"},
		{[]sideband.Mapping{{Start: 10, End: 20, Path: "a"}, {Start: 10, End: 20, Path: "b"}}, "b:10-20+0"},
		{[]sideband.Mapping{{Start: 12, End: 14, Path: "a"}, {Start: 16, End: 18, Path: "b"}, {Start: 10, End: 20, Path: "c"}}, "c:10-20+0"},
		{[]sideband.Mapping{{Start: 10, End: 20, Path: "a"}, {Start: 10, End: 15, Path: "b"}}, "b:10-15+0 a:15-20+5"},
	} {
		p := new(process)
		for _, m := range c.add {
			p.add(mapping{Mapping: m})
		}
		if got := fmt.Sprint(p); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// A stack goes on for as long as its addresses are mapped: the next one is of a register
// that a function used for something else.
func TestStacksEndWhereNothingIsMapped(t *testing.T) {
	k := newProcesses(false)
	k.byPID[1] = new(process)
	k.byPID[1].add(mapping{Mapping: sideband.Mapping{Start: 10, End: 20, Path: "//anon"}})
	n := newNamer(k)
	s := n.stack(sampled{Sample: perfprofiler.Sample{PID: 1, User: []uint64{15, 16, 999, 12}}})
	if len(s.Locations) != 2 || s.Locations[1].Address != 15 || !s.Cut {
		t.Errorf("%d locations, cut %t", len(s.Locations), s.Cut)
	}
	if s := n.stack(sampled{Sample: perfprofiler.Sample{PID: 2, User: []uint64{15, 16, 999}}}); len(s.Locations) != 3 {
		t.Errorf("%d locations of an unknown process", len(s.Locations))
	}
	if s := n.stack(sampled{Sample: perfprofiler.Sample{PID: 1, User: []uint64{999, 12}}}); len(s.Locations) != 2 {
		t.Errorf("%d locations of a thread that runs nowhere", len(s.Locations))
	}
}

// A child has what its parent had mapped, until it executes another file.
func TestChildrenInherit(t *testing.T) {
	k := newProcesses(false)
	k.wanted[1] = true
	for _, e := range []sideband.Event{
		{Kind: sideband.Mapped, PID: 1, TID: 1, Mapping: sideband.Mapping{Start: 10, End: 20, Path: "a"}},
		{Kind: sideband.Named, PID: 1, TID: 1, Name: "parent"},
		{Kind: sideband.Forked, PID: 2, TID: 2, Parent: 1},
		{Kind: sideband.Forked, PID: 1, TID: 3, Parent: 1}, // a thread
		{Kind: sideband.Named, PID: 1, TID: 3, Name: "thread"},
		{Kind: sideband.Forked, PID: 9, TID: 9, Parent: 8}, // of a stranger
	} {
		if k.wants(e) != (e.PID != 9) {
			t.Errorf("%+v: wanted is %t", e, e.PID == 9)
			continue
		}
		k.apply(e)
	}
	if m := k.at(2, 15); m == nil || m.Path != "a" || k.name(2) != "parent" {
		t.Errorf("the child %q has %+v", k.name(2), m)
	}
	if k.name(1) != "parent" {
		t.Errorf("a thread gives its process the name %q", k.name(1))
	}
	if k.at(1, 15) == nil {
		t.Error("a new thread took the mappings of its process")
	}
	k.apply(sideband.Event{Kind: sideband.Named, PID: 2, TID: 2, Name: "child", Exec: true})
	if k.at(2, 15) != nil || k.at(1, 15) == nil || k.name(2) != "child" {
		t.Error("executing a file changes what the wrong process has mapped")
	}
}
