package baselinecmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/report/grid"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// printRuns lists runs, one per line. If that is too wide for a terminal with that many
// columns, each run gets a few lines instead; 0 columns means no limit.
func printRuns(out io.Writer, runs []baseline.Meta, columns int) error {
	table := new(grid.Grid).Left("run", "branch", "commit", "time", "objects", "tags", "testbed")
	machines := shortMachines(runs)
	for i, m := range runs {
		table.Row(grid.Words(m.ID, cli.Dash(m.Branch), fmt.Sprintf("%.12s", cli.Dash(m.Commit)),
			localTime(m), strconv.Itoa(len(m.Digests)), cli.Dash(strings.Join(m.Tags, ", ")), machines[i])...)
	}
	text := table.Text(0, false) + "\n"
	if columns > 0 && grid.Width(text) > columns {
		text = runParagraphs(runs, columns)
	}
	_, err := io.WriteString(out, text)
	return err
}

// shortMachines describes the testbeds of runs in as few words as distinguish them:
// without architecture, cores and the flavor of the kernel.
func shortMachines(runs []baseline.Meta) []string {
	short := make([]string, len(runs))
	means := map[string]string{}
	for i, m := range runs {
		facts := strings.Split(m.Machine, ", ")
		if len(facts) < 3 {
			short[i] = m.Machine
		} else {
			release, _, _ := strings.Cut(strings.TrimPrefix(facts[1], "Linux "), "-")
			release, _, _ = strings.Cut(release, "+")
			short[i] = facts[0] + " " + release
			if facts[0] != string(bench.ModeExact) {
				short[i] += ", " + facts[min(3, len(facts)-1)]
			}
		}
		if whole, ok := means[short[i]]; ok && whole != m.Machine {
			means[short[i]] = ""
			continue
		}
		means[short[i]] = m.Machine
	}
	for i, m := range runs {
		if means[short[i]] != m.Machine {
			short[i] = m.Machine
		}
	}
	return short
}

// runParagraphs lists runs with a few lines for each.
func runParagraphs(runs []baseline.Meta, columns int) string {
	const indent = "  "
	var b strings.Builder
	for _, m := range runs {
		fmt.Fprintf(&b, "%s  %s\n", m.ID, localTime(m))
		var facts []string
		if m.Branch != "" {
			facts = append(facts, "branch "+ui.Clean(m.Branch))
		}
		if m.Commit != "" {
			facts = append(facts, fmt.Sprintf("commit %.12s", ui.Clean(m.Commit)))
		}
		facts = append(facts, unit.Plural(len(m.Digests), "object"))
		if len(m.Tags) > 0 {
			facts = append(facts, "tagged "+ui.Clean(strings.Join(m.Tags, ", ")))
		}
		for _, line := range []string{strings.Join(facts, " · "), ui.Clean(m.Machine)} {
			b.WriteString(indent + grid.Wrap(line, columns, len(indent), len(indent)) + "\n")
		}
	}
	return b.String()
}

func localTime(m baseline.Meta) string { return m.Time.Local().Format("2006-01-02 15:04") }
