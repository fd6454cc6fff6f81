package budget

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
)

func TestBudget(t *testing.T) {
	b := New(10)
	for _, step := range []struct {
		take           uint64
		taken, exceeds bool
	}{
		{4, true, false}, {6, true, false}, {0, true, false}, {1, false, true}, {0, true, true},
	} {
		if got := b.Take(step.take); got != step.taken || b.Exceeded() != step.exceeds {
			t.Errorf("%d: %t, exceeded %t", step.take, got, b.Exceeded())
		}
	}
	b = New(math.MaxInt64)
	if b.Take(math.MaxUint64) || !b.Take(math.MaxInt64) || b.Take(1) {
		t.Error("it has another end")
	}
	const each, takers = 1000, 8
	b = New(each * takers / 2)
	var taken atomic.Int64
	var all sync.WaitGroup
	for range takers {
		all.Go(func() {
			for range each {
				if b.Take(1) {
					taken.Add(1)
				}
			}
		})
	}
	if all.Wait(); taken.Load() != each*takers/2 {
		t.Errorf("%d bytes were taken", taken.Load())
	}
	var endless *Budget
	if !endless.Take(math.MaxUint64) || endless.Exceeded() {
		t.Error("a nil budget has an end")
	}
}
