package bench

import (
	"bytes"
	"testing"
)

func sampleComparisons() []*Comparison {
	var all []*Comparison
	for _, kernel := range []string{"6.1.0", "6.12.0"} {
		r := sampleRun().Results[0]
		all = append(all, &Comparison{
			Tool: "test", Testbed: Testbed{Mode: ModeExact, Kernel: kernel},
			Pairs: []Pair{{Benchmark: r.Benchmark, Base: &r, Head: &r}},
		})
	}
	return all
}

// Everything that an encoder wrote is read as what it is.
func TestDecodeResults(t *testing.T) {
	run := sampleRun()
	for what, c := range map[string]struct {
		encode            func(*bytes.Buffer) error
		runs, comparisons int
	}{
		"a run":           {func(b *bytes.Buffer) error { return EncodeRuns(b, run) }, 1, 0},
		"runs":            {func(b *bytes.Buffer) error { return EncodeRuns(b, run, run) }, 2, 0},
		"a comparison":    {func(b *bytes.Buffer) error { return EncodeComparisons(b, sampleComparisons()[0]) }, 0, 1},
		"two comparisons": {func(b *bytes.Buffer) error { return EncodeComparisons(b, sampleComparisons()...) }, 0, 2},
	} {
		var b bytes.Buffer
		if err := c.encode(&b); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(bytes.NewReader(b.Bytes()))
		if err != nil || len(got.Runs) != c.runs || len(got.Comparisons) != c.comparisons {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

func FuzzDecodeResults(f *testing.F) {
	var runs, comparisons bytes.Buffer
	if err := EncodeRuns(&runs, sampleRun(), sampleRun()); err != nil {
		f.Fatal(err)
	}
	if err := EncodeComparisons(&comparisons, sampleComparisons()...); err != nil {
		f.Fatal(err)
	}
	f.Add(runs.Bytes())
	f.Add(comparisons.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Decode(bytes.NewReader(text))
		if err != nil {
			return
		}
		// Accepted input can be written, and is the same when it is read again.
		var b bytes.Buffer
		err = encode(&b, *got)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(bytes.NewReader(b.Bytes()))
		if err != nil || len(again.Runs) != len(got.Runs) || len(again.Comparisons) != len(got.Comparisons) {
			t.Fatalf("%+v, %v", again, err)
		}
	})
}
