package vm

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// Two guests run at once, so that each is in the other's way.
func TestTheSameWorkloadGivesTheSameResults(t *testing.T) {
	for _, release := range kernels {
		t.Run(release, func(t *testing.T) {
			cmds := []*Cmd{newCmd(t, release, "measure"), newCmd(t, release, "measure")}
			var results [2]*[]string
			var guests sync.WaitGroup
			for i, cmd := range cmds {
				results[i] = collect(cmd)
				guests.Go(func() {
					if err := cmd.Run(t.Context()); err != nil {
						t.Errorf("%+v", err)
					}
				})
			}
			guests.Wait()
			first, second := undisturbed(t, *results[0]), undisturbed(t, *results[1])
			if len(first) == 0 || !slices.Equal(first, second) {
				t.Errorf("one guest measured\n%s\nand another one\n%s", *results[0], *results[1])
			}
		})
	}
}

// undisturbed are the smallest rounds. Which of the rounds an interrupt falls
// into is not the same on a busy host.
func undisturbed(t *testing.T, results []string) (counts []string) {
	for _, r := range results {
		var m measured
		if err := json.Unmarshal([]byte(r), &m); err != nil {
			t.Fatal(err)
		}
		counts = append(counts, fmt.Sprintf("%s: %d in %d runs", m.Name, slices.Min(m.Runtime), slices.Min(m.Runs)))
	}
	return counts
}

func TestOneInstructionMoreReadsAsOneMore(t *testing.T) {
	for _, release := range kernels {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			cmd := newCmd(t, release, "measure")
			results := collect(cmd)
			run(t, cmd)
			cost := map[string]float64{}
			for _, r := range *results {
				var m measured
				if err := json.Unmarshal([]byte(r), &m); err != nil {
					t.Fatal(err)
				}
				cost[m.Name] = float64(slices.Min(m.Runtime)) / float64(slices.Min(m.Runs))
			}
			one := cost["test_run/1"] - cost["test_run/0"]
			hundred := cost["test_run/100"] - cost["test_run/0"]
			if one != 1 || hundred != 100 {
				t.Errorf("1 instruction reads as %v, 100 as %v", one, hundred)
			}
		})
	}
}
