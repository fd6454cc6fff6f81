package suite

import (
	"github.com/org/ebpf-bench-action/internal/bench"
)

// maxGenerated bounds the entries that are generated: writing more would take
// longer than measuring anything.
const maxGenerated = 1_000_000

func (v *validator) mapPrep(name string, m *bench.MapPrep, at []any) {
	v.oneOf(sub(at, "reset"), "reset", string(m.Reset), string(bench.ResetNever), string(bench.ResetSlice))
	for i, e := range m.Entries {
		switch at := sub(at, "entries", i); {
		case e.Value != nil && v.doc.Has(sub(at, "program")...):
			v.errorf(at, "an entry of map %s has a value and a program: it is one or the other", name)
		case e.Value == nil && e.Program == "":
			v.errorf(at, "an entry of map %s has no value", name)
		}
	}
	if m.File == "" && v.doc.Has(sub(at, "file")...) {
		v.errorf(sub(at, "file"), "file names no file")
	}
	g := m.Generate
	if g == nil {
		return
	}
	at = sub(at, "generate")
	if g.Count < 1 || g.Count > maxGenerated {
		v.errorf(sub(at, "count"), "count must be from 1 to %d", maxGenerated)
	}
	v.oneOf(sub(at, "keys"), "keys", string(g.Keys), string(bench.PatternNumbered), string(bench.PatternRandom))
	v.oneOf(sub(at, "values"), "values", string(g.Values), string(bench.PatternZero), string(bench.PatternNumbered), string(bench.PatternRandom))
}

// maxPreparations bounds how often a program prepares: each run is a system
// call.
const maxPreparations = 1_000_000

func (v *validator) preparation(p *bench.Preparation, at []any) {
	if p.Program == "" {
		v.errorf(at, "a preparation names no program")
	}
	v.count(sub(at, "runs"), "runs", p.Runs, maxPreparations)
	v.packets(sub(at, "packets"), p.Packets)
}
