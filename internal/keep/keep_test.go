package keep

import (
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
)

// A run that is not fit to be compared with does not keep the others from being saved.
func TestEntries(t *testing.T) {
	sound := func() *bench.Run { return &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeExact}} }
	partial, failed, shard := sound(), sound(), sound()
	partial.Partial = true
	failed.Results = []bench.Result{{Benchmark: "a", Error: "refused"}}
	shard.Shard = &bench.Shard{Part: 1, Of: 2}
	entries, err := Entries(&suite.Suite{}, []*bench.Run{sound(), partial, failed, shard, sound()}, Origin{Commit: "c"})
	if len(entries) != 2 {
		t.Errorf("%d entries", len(entries))
	}
	for _, want := range []string{"the run is partial", "a failed", "shard 1/2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
