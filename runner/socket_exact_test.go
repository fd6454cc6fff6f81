package runner

import (
	"testing"

	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

func TestTheUsualLeastIsNotThereByChance(t *testing.T) {
	round := func(runs, took uint64) drive.Counters { return drive.Counters{RunCnt: runs, RunTimeNS: took} }
	many := func(n int, c drive.Counters) (all []drive.Counters) {
		for range n {
			all = append(all, c)
		}
		return all
	}
	for name, c := range map[string]struct {
		rounds []drive.Counters
		want   uint64
	}{
		"one":                  {many(1, round(2, 100)), 100},
		"by chance":            {append(many(20, round(2, 100)), round(2, 99), round(2, 5000)), 100},
		"none twice":           {[]drive.Counters{round(2, 103), round(2, 101), round(2, 102), round(2, 104), round(2, 105)}, 101},
		"another number":       {append(many(6, round(2, 100)), many(5, round(3, 90))...), 100},
		"fewer than that many": {many(2, round(2, 7)), 7},
	} {
		if got := usualLeast(c.rounds, 2); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
