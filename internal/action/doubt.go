package action

import (
	"maps"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/built"
	"github.com/org/ebpf-bench-action/internal/measure"
	"github.com/org/ebpf-bench-action/runner"
)

// doubts say why benchmarks may not compare the base with the head, by their names.
type doubts map[string]string

// The hints of doubts.
const (
	hintBuild = "both sides are built by the same command: let it write into the checkout, or into a folder for each side ($EBPF_BENCH_SIDE is head or base)"
	hintPath  = "let the compiler shorten paths in objects: -fmacro-prefix-map=$PWD=. for clang, --remap-path-prefix=$PWD=. for rustc"
)

// doubts looks for evidence that objects were not built from the sources of their side, or
// differ by the paths of their builds, and warns about it.
func (m *measurer) doubts(c *measure.Comparing) doubts {
	if m.Base != baseBuilt || c.Base.Suite == nil || c.Head.Suite == nil || c.Base.Suite.Bundled || c.Head.Suite.Bundled {
		return nil
	}
	all, hints := doubts{}, map[string]string{}
	sides, err := built.Open(built.Checkout{Dir: m.baseTop(), Renewed: m.Renewed}, built.Checkout{Dir: m.Top, Renewed: m.HeadRenewed}, m.Changed)
	if err == nil {
		defer sides.Close()
	}
	known := map[[2]string]string{}
	for _, pair := range c.Pairs {
		if pair.Base == nil || pair.Head == nil {
			continue
		}
		objects := [2]string{pair.Base.Object.Path, pair.Head.Object.Path}
		why, ok := known[objects]
		if !ok {
			hint := hintBuild
			if err == nil {
				why, hint, err = doubt(sides, c, pair, m.Apart)
			}
			if err != nil {
				why = "it is not known whether the base was built: " + err.Error()
			}
			known[objects], hints[why] = why, hint
		}
		if why != "" {
			all[pair.Name()] = why
		}
	}
	for _, why := range slices.Compact(slices.Sorted(maps.Values(all))) {
		note := bench.Warn("%s", why)
		note.Hint = hints[why]
		m.Watch.Tell(note)
	}
	return all
}

func doubt(sides *built.Sides, c *measure.Comparing, pair runner.PairJob, apart bool) (why, hint string, err error) {
	hint = hintBuild
	base, err := c.Base.Suite.LocalFile(pair.Base.Object.Path)
	if err != nil {
		return "", hint, err
	}
	head, err := c.Head.Suite.LocalFile(pair.Head.Object.Path)
	if err != nil {
		return "", hint, err
	}
	why, err = sides.Doubt(base, head)
	if why == "" && err == nil && apart {
		hint = hintPath
		why, err = sides.DoubtPaths(base, head)
	}
	return why, hint, err
}

// mark puts the doubts into comparisons.
func (d doubts) mark(comparisons []*bench.Comparison) {
	for _, c := range comparisons {
		for i := range c.Pairs {
			c.Pairs[i].Doubt = d[c.Pairs[i].Benchmark]
		}
	}
}
