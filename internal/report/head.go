package report

import (
	"io"

	"github.com/org/ebpf-bench-action/internal/bench"
)

// OfHead renders the head of a comparison alone, as a run: Bencher keeps the history
// itself, and benchstat compares files.
func OfHead(render func(io.Writer, *Model) error) func(io.Writer, *Comparison) error {
	return func(w io.Writer, m *Comparison) error {
		var runs []*bench.Run
		for _, t := range m.Tables {
			// The head may lack a kernel that the base has.
			if run := t.HeadRun(); len(run.Results) > 0 {
				runs = append(runs, run)
			}
		}
		return render(w, NewModel(runs...))
	}
}
