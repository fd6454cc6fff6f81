package explain

import "github.com/org/ebpf-bench-action/internal/bench"

// Marks after the place of a line, and before a figure.
const (
	callMark   = "ƒ"
	partlyMark = "partly"
)

const (
	callLegend   = "ƒ calls a helper or a kfunc: a call counts as one instruction, and the time that the callee takes is part of latency."
	partlyLegend = "partly: the line was not reached, but instructions of it that the compiler moved in front of a branch were executed."
	spreadLegend = "~ is a mean: runs with the same input differ, and a difference behind a ~ can be just that."
	asmLegend    = "≈ is an estimate of the machine instructions that the JIT made of an instruction; all else is counted. Instructions are numbered by slots, as the verifier does."
)

// marks returns what a reader must know about a line, each mark after a space.
func marks(p *program, l *bench.Line) string {
	e := p.of(l)
	if e == nil {
		e = l.Base
	}
	out := ""
	if calls(l) {
		out += " " + callMark
	}
	if e != nil && e.Partly() {
		out += " " + partlyMark
	}
	return out
}

// calls reports whether the counted instructions of a line include a call.
func calls(l *bench.Line) bool {
	for _, e := range []*bench.Executed{l.Base, l.Head} {
		if e != nil && len(e.Calls) > 0 && e.PerRun > 0 {
			return true
		}
	}
	return false
}

// legends explain the marks that are shown: on the listed lines, or on all.
func legends(m *Model, programs []program, all bool) []string {
	var called, partly, spread bool
	for i := range programs {
		p := &programs[i]
		for _, s := range []*bench.ExplainedSide{p.Base, p.Head} {
			spread = spread || s != nil && s.Spread != nil
		}
		lines := p.listing(m).lines
		for j := range p.Lines {
			if all {
				lines = append(lines, &p.Lines[j])
			}
		}
		for _, l := range lines {
			e := p.of(l)
			called = called || calls(l)
			partly = partly || e != nil && e.Partly()
			spread = spread || e != nil && e.Spread != nil
		}
	}
	var legends []string
	for _, l := range []struct {
		present bool
		text    string
	}{{called, callLegend}, {partly, partlyLegend}, {spread, spreadLegend}, {m.Asm, asmLegend}} {
		if l.present {
			legends = append(legends, l.text)
		}
	}
	return legends
}
