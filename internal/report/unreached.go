package report

import (
	"fmt"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// maxUnreached is how many ranges of lines that no benchmark reaches are listed.
const maxUnreached = 5

// Reached collects the edited lines that runs of any benchmark reached.
type Reached map[bench.EditedLine]bool

// Add adds the lines that the runs of a pair reached.
func (r Reached) Add(p *bench.Pair) {
	for _, l := range p.Edited {
		if l.Reached {
			r[l] = true
		}
	}
}

// Missing says which edited lines of a pair no benchmark reaches, or returns "".
func (r Reached) Missing(p *bench.Pair) string {
	type lineRange struct {
		file        string
		first, last int
	}
	var all []lineRange
	near := false // whether the line before is the last one of the last range
	for _, l := range p.Edited {
		if l.Reached || r[bench.EditedLine{File: l.File, Number: l.Number, Reached: true}] {
			near = false
			continue
		}
		// A line between two of them that has no instructions, such as a brace, is like them.
		if last := len(all) - 1; near && all[last].file == l.File && l.Number-all[last].last <= 2 {
			all[last].last = l.Number
			continue
		}
		all = append(all, lineRange{l.File, l.Number, l.Number})
		near = true
	}
	var parts []string
	for i, l := range all[:min(len(all), maxUnreached)] {
		place := SourcePlace(&bench.Source{File: l.file, Line: l.first})
		if i > 0 && all[i-1].file == l.file {
			place = fmt.Sprint(l.first)
		}
		if l.last > l.first {
			place += fmt.Sprintf("-%d", l.last)
		}
		parts = append(parts, place)
	}
	if len(parts) == 0 {
		return ""
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, unit.Plural(more, "other place"))
	}
	return escape.Printable("no benchmark reaches all that changed in " + strings.Join(parts, ", ") +
		": what that costs is unknown")
}
