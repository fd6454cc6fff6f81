package bench

import (
	"bytes"
	"strings"
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

// Whatever an encoder wrote is read as what it is.
func TestDecodeResults(t *testing.T) {
	run := sampleRun()
	for what, c := range map[string]struct {
		encode            func(*bytes.Buffer) error
		runs, comparisons int
	}{
		"a run":           {func(b *bytes.Buffer) error { return EncodeAll(b, []*Run{run}) }, 1, 0},
		"runs":            {func(b *bytes.Buffer) error { return EncodeAll(b, []*Run{run, run}) }, 2, 0},
		"a comparison":    {func(b *bytes.Buffer) error { return EncodeComparisons(b, sampleComparisons()[:1]) }, 0, 1},
		"two comparisons": {func(b *bytes.Buffer) error { return EncodeComparisons(b, sampleComparisons()) }, 0, 2},
	} {
		var b bytes.Buffer
		if err := c.encode(&b); err != nil {
			t.Fatal(err)
		}
		got, err := decodeResults(b.Bytes())
		if err != nil || len(got.Runs) != c.runs || len(got.Comparisons) != c.comparisons {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

func TestDecodeResultsRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "ends before"},
		{"[]", "decode results"},
		{"{}", "no version"},
		{`{"version":1,"comparisons":[]}`, "there is no comparison in it"},
		{`{"version":1,"comparisons":null}`, "there is no comparison in it"},
		{`{"version":2,"comparisons":[]}`, "version 2 is not known"},
		{`{"version":1,"comparisons":[{"version":1}]}`, "has no pairs"},
		{`{"version":1,"comparisons":[{"version":1,"pairs":[{"benchmark":"a"}]}]}`, "neither base nor head"},
		{`{"version":1,"pairs":[]}{}`, "something follows"},
	} {
		if _, err := decodeResults([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("decodeResults(%s) = %v, want an error with %q", c.in, err, c.want)
		}
	}
}

func FuzzDecodeResults(f *testing.F) {
	var runs, comparisons bytes.Buffer
	if err := EncodeAll(&runs, []*Run{sampleRun(), sampleRun()}); err != nil {
		f.Fatal(err)
	}
	if err := EncodeComparisons(&comparisons, sampleComparisons()); err != nil {
		f.Fatal(err)
	}
	f.Add(runs.Bytes())
	f.Add(comparisons.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decodeResults(text)
		if err != nil {
			return
		}
		// What is taken can be written, and is the same when it is read again.
		var b bytes.Buffer
		if len(got.Comparisons) > 0 {
			err = EncodeComparisons(&b, got.Comparisons)
		} else {
			err = EncodeAll(&b, got.Runs)
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeResults(b.Bytes())
		if err != nil || len(again.Runs) != len(got.Runs) || len(again.Comparisons) != len(got.Comparisons) {
			t.Fatalf("%+v, %v", again, err)
		}
	})
}
