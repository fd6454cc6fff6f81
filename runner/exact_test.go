package runner

import "testing"

func TestUndisturbed(t *testing.T) {
	for _, test := range []struct {
		name   string
		rounds []counters
		want   counters
	}{
		{"the tick adds", []counters{{runTimeNS: 49600, runCnt: 200}, {runTimeNS: 50861, runCnt: 200}}, counters{runTimeNS: 49600, runCnt: 200}},
		{"a late window has a lower mean", []counters{{runTimeNS: 47532, runCnt: 20}, {runTimeNS: 49908, runCnt: 21}, {runTimeNS: 47566, runCnt: 20}}, counters{runTimeNS: 47532, runCnt: 20}},
		{"as many late as not", []counters{{runTimeNS: 49908, runCnt: 21}, {runTimeNS: 47532, runCnt: 20}}, counters{runTimeNS: 47532, runCnt: 20}},
		{"a round without a run", []counters{{runTimeNS: 300, runCnt: 3}, {}, {runTimeNS: 300, runCnt: 3}}, counters{runTimeNS: 300, runCnt: 3}},
		{"no run at all", []counters{{}, {}}, counters{}},
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
		if got := leastAlike(test.values, 3); got != test.want {
			t.Errorf("%v: %d, want %d", test.values, got, test.want)
		}
	}
}
