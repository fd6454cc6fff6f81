package measure

import (
	"io"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline/folder"
	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/cli"
	"github.com/org/ebpf-bench-action/internal/testenv"
	"github.com/org/ebpf-bench-action/internal/ui"
)

// All that was compared before an interrupt is saved, after each pair.
func TestComparisonsAreSavedAfterEachPair(t *testing.T) {
	testenv.Root(t)
	const object = "../../programs/fun_xdp/fun_xdp_bpfel.o"
	c, err := Options{
		Filter: "fun_xdp_(basic|fizz)$", Budget: 100 * time.Millisecond, Seed: 1,
		Store: folder.Open(t.TempDir()), Watch: cli.Watch{Terminal: ui.New(io.Discard, io.Discard)},
	}.Compare(t.Context(), []string{object, object})
	if err != nil {
		t.Fatal(err)
	}
	var saved []int
	all, err := c.Measure(t.Context(), func(soFar ...*bench.Comparison) {
		if len(soFar) != 1 || !soFar[0].Partial || soFar[0].Base.Name != object {
			t.Errorf("saved %+v", soFar)
		}
		saved = append(saved, len(soFar[0].Pairs))
	})
	if err != nil || len(all) != 1 || all[0].Partial || len(all[0].Pairs) != 2 {
		t.Fatalf("%v, %+v", err, all)
	}
	if len(saved) < 2 || saved[0] != 1 || saved[1] != 2 {
		t.Errorf("saved %v pairs", saved)
	}
}
