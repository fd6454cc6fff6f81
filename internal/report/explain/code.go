package explain

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// codeRow is an instruction of one side or of both.
type codeRow struct{ base, head, machine, text string }

// codeRows returns the instructions of a line, those of two sides as a diff: a
// minus marks what only the base has, a plus what only the head has.
func codeRows(p *program, l *bench.Line) []codeRow {
	var base, head []bench.Code
	if l.Base != nil {
		base = l.Base.Code
	}
	if l.Head != nil {
		head = l.Head.Code
	}
	var rows []codeRow
	if !p.two() {
		for _, c := range slices.Concat(base, head) {
			rows = append(rows, codeRow{"", unit.Mean(c.PerRun), machineText(c.Machine), codeText("", &c)})
		}
		return rows
	}
	b, h := 0, 0
	upTo := func(endBase, endHead int) {
		for ; b < endBase; b++ {
			rows = append(rows, codeRow{unit.Mean(base[b].PerRun), "", machineText(base[b].Machine), codeText("- ", &base[b])})
		}
		for ; h < endHead; h++ {
			rows = append(rows, codeRow{"", unit.Mean(head[h].PerRun), machineText(head[h].Machine), codeText("+ ", &head[h])})
		}
	}
	for _, same := range common(base, head) {
		upTo(same[0], same[1])
		rows = append(rows, codeRow{unit.Mean(base[b].PerRun), unit.Mean(head[h].PerRun), machineText(head[h].Machine), codeText("  ", &head[h])})
		b, h = b+1, h+1
	}
	upTo(len(base), len(head))
	return rows
}

// where matches the target of a jump, which changes as soon as anything is
// added.
var where = regexp.MustCompile(` [+-]\d+ <\d+>`)

// mostCode bounds the pairs of instructions of a line that are compared.
const mostCode = 1 << 20

// common returns the indexes of the instructions that both have, in the same
// order, as many as possible: a longest common subsequence.
func common(base, head []bench.Code) [][2]int {
	texts := func(all []bench.Code) (out []string) {
		for i := range all {
			out = append(out, where.ReplaceAllString(all[i].Text, ""))
		}
		return out
	}
	a, b := texts(base), texts(head)
	var same [][2]int
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		same = append(same, [2]int{from, from})
		from++
	}
	a, b = a[from:], b[from:]
	if len(a)*len(b) > mostCode {
		return same
	}
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			same = append(same, [2]int{from + i, from + j})
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return same
}

// codeText returns text such as "12: r1 += r2".
func codeText(sign string, c *bench.Code) string {
	return fmt.Sprintf("%s%d: %s", sign, c.Offset, escape.Printable(c.Text))
}

func machineText(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// machineOf returns the machine instructions of a line, if they are known for
// all of its instructions.
func machineOf(e *bench.Executed) string {
	if e == nil || len(e.Code) == 0 {
		return ""
	}
	sum := 0
	for _, c := range e.Code {
		if c.Machine == nil {
			return ""
		}
		sum += *c.Machine
	}
	return fmt.Sprint(sum)
}
