package bench

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func sampleComparison() *Comparison {
	run := sampleRun()
	one := func() *Result { r := run.Results[0]; return &r }
	name := run.Results[0].Benchmark
	return &Comparison{
		Tool: "v1", Testbed: run.Testbed, Started: run.Started, Seed: 1,
		Base: Side{Name: "main", Branch: "main"}, Head: Side{Name: "head.o"},
		Pairs:     []Pair{{Benchmark: name, Base: one(), Head: one(), Again: one()}},
		Confirmed: []Pair{{Benchmark: name, Base: one(), Head: one(), Again: one()}},
	}
}

func TestEncodeDecodeComparison(t *testing.T) {
	want := sampleComparison()
	var text bytes.Buffer
	if err := EncodeComparisons(&text, want); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeComparison(&text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDecodeComparisonRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":       ``,
		"no version":    `{"comparisons": [{"pairs": []}]}`,
		"no pairs":      `{"version": 2, "comparisons": [{}]}`,
		"a later one":   `{"version": 99, "comparisons": [{"pairs": []}]}`,
		"more":          `{"version":2,"comparisons":[{"pairs": []} {}]}`,
		"no name":       `{"version":2,"comparisons":[{"pairs": [{"base": {"benchmark": "a"}}]}]}`,
		"no side":       `{"version":2,"comparisons":[{"pairs": [{"benchmark": "a"}]}]}`,
		"another":       `{"version":2,"comparisons":[{"pairs": [{"benchmark": "a", "base": {"benchmark": "b"}}]}]}`,
		"twice":         `{"version":2,"comparisons":[{"pairs": [{"benchmark": "a", "base": {"benchmark": "a"}}, {"benchmark": "a", "base": {"benchmark": "a"}}]}]}`,
		"half a pair":   `{"version":2,"comparisons":[{"pairs": [{"benchmark": "a", "base": {"benchmark": "a"}, "again": {"benchmark": "a"}}]}]}`,
		"short counter": `{"version":2,"comparisons":[{"pairs": [], "confirmed": [{"benchmark": "a", "base": {"benchmark": "a", "rounds": {"run_cnt": [1]}}}]}]}`,
	} {
		if c, err := DecodeComparison(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted as %+v", name, c)
		}
	}
}

func FuzzDecodeComparison(f *testing.F) {
	var seed bytes.Buffer
	if err := EncodeComparisons(&seed, sampleComparison()); err != nil {
		f.Fatal(err)
	}
	f.Add(seed.Bytes())
	f.Add([]byte(`{"version":2,"comparisons":[{"pairs":[{"benchmark":"a"}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := DecodeComparison(bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := EncodeComparisons(&again, c); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := DecodeComparison(&again); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}
