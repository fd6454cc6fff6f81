package command

import "testing"

// The runs for orders to the worker are not the load's, however few times that is done.
func TestPerDoing(t *testing.T) {
	for _, c := range []struct{ runs, own, doings, want int }{
		{1003, 2, 1000, 1}, {6, 2, 4, 1}, {3, 2, 1, 1}, {5, 2, 1, 3}, {2002, 2, 1000, 2}, {2, 2, 1, 1}, {0, 0, 0, 1},
	} {
		q := &quick{runs: c.runs, own: c.own, doings: c.doings}
		if got := q.perDoing(); got != c.want {
			t.Errorf("%d runs in %d times, %d of them for the order: %d each time, want %d", c.runs, c.doings, c.own, got, c.want)
		}
	}
}
