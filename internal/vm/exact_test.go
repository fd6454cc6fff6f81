package vm

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
)

// Two guests run at once, so that they disturb each other. One instruction more reads as
// one more.
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
			if len(*results[0]) == 0 || !slices.Equal(*results[0], *results[1]) {
				t.Errorf("one guest measured\n%s\nand another one\n%s", *results[0], *results[1])
			}
			if one, hundred := costOfMore(t, *results[0]); one != 1 || hundred != 100 {
				t.Errorf("1 instruction reads as %v, 100 as %v", one, hundred)
			}
		})
	}
}

// A sleeping processor is woken at the same time in every guest, however busy
// the host is.
func TestAClockThatSkipsIdleTimeIsTheSame(t *testing.T) {
	const release, guests = "6.12", 4
	var results [guests]*[]string
	var running sync.WaitGroup
	for i := range guests {
		cmd := newCmd(t, release, "doze")
		results[i] = collect(cmd)
		running.Go(func() {
			if err := cmd.Run(t.Context()); err != nil {
				t.Errorf("%+v", err)
			}
		})
	}
	running.Wait()
	for _, r := range results {
		if len(*r) != dozes || !slices.Equal(*r, *results[0]) {
			t.Errorf("one guest woke at\n%s\nand another one at\n%s", *results[0], *r)
		}
	}
}

// costOfMore returns by how many instructions a run with one instruction more costs more,
// and one with a hundred.
func costOfMore(t *testing.T, results []string) (one, hundred float64) {
	t.Helper()
	cost := map[string]float64{}
	for _, r := range results {
		var m measured
		if err := json.Unmarshal([]byte(r), &m); err != nil {
			t.Fatal(err)
		}
		cost[m.Name] = float64(slices.Min(m.Runtime)) / float64(slices.Min(m.Runs))
	}
	return cost["test_run/1"] - cost["test_run/0"], cost["test_run/100"] - cost["test_run/0"]
}
