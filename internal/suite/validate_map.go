package suite

import (
	"github.com/org/ebpf-bench-action/internal/bench"
)

// maxGenerated bounds the entries that are generated: writing more would take
// longer than measuring anything.
const maxGenerated = 1_000_000

func (c *checker) mapPrep(name string, m *bench.MapPrep) {
	c.OneOf("reset", string(m.Reset), string(bench.ResetNever), string(bench.ResetSlice))
	for i, e := range m.Entries {
		switch c := c.Under("entries", i); {
		case e.Value != nil && c.Has("program"):
			c.Errorf("an entry of map %s has a value and a program: it is one or the other", name)
		case e.Value == nil && e.Program == "":
			c.Errorf("an entry of map %s has no value", name)
		}
	}
	if m.File == "" && c.Has("file") {
		c.Under("file").Errorf("file names no file")
	}
	g := m.Generate
	if g == nil {
		return
	}
	made := c.Under("generate")
	if g.Count < 1 || g.Count > maxGenerated {
		made.Under("count").Errorf("count must be from 1 to %d", maxGenerated)
	}
	made.OneOf("keys", string(g.Keys), string(bench.PatternNumbered), string(bench.PatternRandom))
	made.OneOf("values", string(g.Values), string(bench.PatternZero), string(bench.PatternNumbered), string(bench.PatternRandom))
}

// maxPreparations bounds how often a program prepares: each run is a system
// call.
const maxPreparations = 1_000_000

func (c *checker) preparation(p *bench.Preparation) {
	if p.Program == "" {
		c.Errorf("a preparation names no program")
	}
	c.Count("runs", p.Runs, maxPreparations)
	c.Packets("packets", p.Packets)
}
