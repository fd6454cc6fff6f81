package runner

import (
	"testing"

	"github.com/org/ebpf-bench-action/runner/internal/drive"
)

func TestUndisturbed(t *testing.T) {
	for _, test := range []struct {
		name   string
		rounds []drive.Counters
		want   drive.Counters
	}{
		{"the tick adds", []drive.Counters{{RunTimeNS: 49600, RunCnt: 200}, {RunTimeNS: 50861, RunCnt: 200}}, drive.Counters{RunTimeNS: 49600, RunCnt: 200}},
		{"a late window has a lower mean", []drive.Counters{{RunTimeNS: 47532, RunCnt: 20}, {RunTimeNS: 49908, RunCnt: 21}, {RunTimeNS: 47566, RunCnt: 20}}, drive.Counters{RunTimeNS: 47532, RunCnt: 20}},
		{"as many late as not", []drive.Counters{{RunTimeNS: 49908, RunCnt: 21}, {RunTimeNS: 47532, RunCnt: 20}}, drive.Counters{RunTimeNS: 47532, RunCnt: 20}},
		{"a round without a run", []drive.Counters{{RunTimeNS: 300, RunCnt: 3}, {}, {RunTimeNS: 300, RunCnt: 3}}, drive.Counters{RunTimeNS: 300, RunCnt: 3}},
		{"no run at all", []drive.Counters{{}, {}}, drive.Counters{}},
	} {
		if got := undisturbed(test.rounds); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestLeastAlike(t *testing.T) {
	for _, test := range []struct {
		values []uint64
		want   uint64
	}{
		{[]uint64{19792, 19110, 19792, 21035, 19792}, 19792},
		{[]uint64{5, 4, 5, 4, 5, 4}, 4},
		{[]uint64{7, 9, 8}, 7},
	} {
		if got := leastRepeated(test.values, 3); got != test.want {
			t.Errorf("%v: %d, want %d", test.values, got, test.want)
		}
	}
}
