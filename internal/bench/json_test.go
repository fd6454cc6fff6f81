package bench

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func sampleRun() *Run {
	r := Result{
		Benchmark: "xdp/basic", Driver: "test_run", Object: "fun.o", Program: "basic", Type: "xdp",
		Retvals: map[uint32]uint64{2: 20},
		Alerts:  []Alert{{Measure: "latency", Value: 2, Limit: 1, Severity: "fail"}},
		Samples: []Sample{{Latency, []float64{1.5, 2.25}}},
	}
	r.Rounds.Add(0, 100, 2, 300, 1)
	r.Rounds.Add(1, 110, 2, 310, 0)
	r.Floor.Add(0, 80, 2, 200, 0)
	r.Floor.Add(1, 81, 2, 200, 0)
	return &Run{
		Tool: "dev", Started: time.Unix(1700000000, 0).UTC(), Seed: 1 << 60, Loads: 2,
		Testbed: Testbed{Mode: "host", Kernel: "6.18"}, Results: []Result{r},
	}
}

func TestEncodeDecode(t *testing.T) {
	var b bytes.Buffer
	want := sampleRun()
	if err := EncodeRuns(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeRun(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("a run does not survive its JSON:\n got %+v\nwant %+v", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "ends before it is complete"},
		{`{"version":2,"runs":[`, "ends before it is complete"},
		{`{}`, "no version"},
		{`{"version":1}`, "version 1 is not known"},
		{`{"version":1,"results":[{}]}`, "version 1 is not known"},
		{`{"version":2}`, "no results in it"},
		{`{"version":2,"runs":[],"comparisons":null}`, "no results in it"},
		{`{"version":2,"runs":[{"results":[]}],"explanations":[{"programs":[]}]}`, "several kinds"},
		{`{"version":2,"runs":[null]}`, "no results"},
		{`[]`, "a value is a list, not an object"},
		{`{"version":2,"runs":[{"results":[{"benchmark":"a","rounds":{"run_cnt":["b"]}}]}]}`, "rounds.run_cnt is a string, not a whole number"},
		{`{"version":2,"runs":[{"results":[]}]} {}`, "something follows"},
		{`{"version":2,"runs":[{"results":null}]}`, "no results"},
		{`{"version":2,"runs":[{"results":{}}]}`, "not a list"},
		{`{"version":2,"runs":[{"results":[null]}]}`, "no benchmark"},
		{`{"version":2,"runs":[{"results":[{}]}]}`, "no benchmark"},
		{`{"version":2,"runs":[{"results":[{"benchmark":"a"},{"benchmark":"a"}]}]}`, "occurs twice"},
		{`{"version":2,"runs":[{"results":[{"benchmark":"a","samples":[{"measure":{"name":"latency","direction":"lower","unit":"ns"},"values":[1]},{"measure":{"name":"latency","direction":"lower","unit":"ns"},"values":[2]}]}]}]}`, `has the measure "latency" twice`},
		{`{"version":2,"runs":[{"results":[{"benchmark":"a","rounds":{"run_cnt":[1]}}]}]}`, "different lengths"},
		{`{"version":2,"runs":[{"results":[{"benchmark":"a","samples":[{}]}]}]}`, "no measure"},
		{`{"version":2,"runs":[{"results":[{"benchmark":"a","samples":[{"measure":{"name":"m"}}]}]}]}`, "direction"},
		{`{"version":2,"runs":[{"results":[{"benchmark":"a","samples":[{"measure":{"name":"m","direction":"lower"},"values":[1e999]}]}]}]}`, "decode results"},
		{`{"version":2,"runs":[{"results":[],"thresholds":"` + strings.Repeat("a", 4097) + `"}]}`, "more than 4096 bytes"},
		{`{"version":2,"runs":[{"results":[],"thresholds":["a"]}]}`, "thresholds is a list, not a string"},
		{`{"version":2,"runs":[{"results":[],"missing":"1/2"}]}`, "not a list"},
		{`{"version":2,"runs":[{"results":[],"missing":["3/2"]}]}`, "no part 3 of 2"},
		{`{"version":2,"runs":[{"results":[],"missing":[null]}]}`, "no number"},
		{sampleOf(`{"name":"latency","unit":"ns","direction":"higher"}`), `benchmark "a": it has latency as timed, higher is better, in ns, but it is timed, lower is better, in ns`},
		{sampleOf(`{"name":"latency","unit":"s","direction":"lower"}`), "it has latency as timed, lower is better, in s"},
		{sampleOf(`{"name":"latency","unit":"ns","direction":"lower","exact":true}`), "it has latency as exact"},
	} {
		if _, err := DecodeRun(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Decode(%s) = %v, want an error with %q", c.in, err, c.want)
		}
	}
}

// sampleOf returns a run with a sample of a measure.
func sampleOf(measure string) string {
	return `{"version":2,"runs":[{"results":[{"benchmark":"a","samples":[{"measure":` + measure + `,"values":[1]}]}]}]}`
}

// Decode accepts any description of a measure that the tool does not know.
func TestDecodeTakesMeasuresOfOthers(t *testing.T) {
	if _, err := DecodeRun(strings.NewReader(sampleOf(`{"name":"branch-misses","unit":"misses","direction":"higher"}`))); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := EncodeRuns(&b, sampleRun()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"version":2,"runs":[{"results":[{"benchmark":"a","samples":null}]}]}`))
	for _, text := range hostile(2000) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		run, err := DecodeRun(bytes.NewReader(in))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := EncodeRuns(&out, run); err != nil {
			t.Fatalf("a run that was read cannot be written: %v", err)
		}
		written := out.String()
		again, err := DecodeRun(&out)
		if err != nil {
			t.Fatalf("a run that was written cannot be read: %v", err)
		}
		if err := EncodeRuns(&out, again); err != nil || out.String() != written {
			t.Fatalf("a run changes when it is read and written again: %v", err)
		}
	})
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{"xdp/Basic 64B": "xdp-basic-64b", "a_b": "a-b", "é": "-", "": ""} {
		if got := Slug(in); got != want {
			t.Errorf("Slug(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHint(t *testing.T) {
	base := &time.ParseError{}
	if Hint(base) != "" || WithHint(nil, "x") != nil {
		t.Error("a hint appears from nowhere")
	}
	err := WithHint(WithHint(base, "inner"), "outer")
	if Hint(err) != "outer" || err.Error() != base.Error() {
		t.Errorf("hint %q, text %q", Hint(err), err)
	}
}

func TestEncodeDecodeRuns(t *testing.T) {
	for _, want := range [][]*Run{{sampleRun()}, {sampleRun(), sampleRun()}} {
		var b bytes.Buffer
		if err := EncodeRuns(&b, want...); err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRuns(&b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d runs do not survive their JSON: %v", len(want), err)
		}
	}
	for bad, want := range map[string]string{
		``: "ends before", `{"runs":[{"results":[]}]}`: "no version", `{"runs":[`: "ends before", `[]`: "a value is a list, not an object",
		`{"version":2,"runs":[{"results":[]}]}`:                       "without results",
		`{"version":2,"outcome":"pass","comparisons":[{"pairs":[]}]}`: "it is a comparison",
		`{"version":2,"explanations":[{"programs":[]}]}`:              "it is an explanation",
	} {
		if runs, err := DecodeRuns(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is read as %v, error %v, want %q", bad, runs, err, want)
		}
	}
}

// hostile returns texts that need many times their size of memory: n elements of each
// list.
func hostile(n int) map[string]string {
	many := func(element string) string { return "[" + strings.Repeat(element+",", n-1) + element + "]" }
	of := func(key, element string) string {
		return `{"version":2,"runs":[{"results":[{"benchmark":"a","` + key + `":` + many(element) + `}]}]}`
	}
	distinct := make([]string, n)
	for i := range distinct {
		distinct[i] = fmt.Sprintf(`{"benchmark":"%d"}`, i)
	}
	return map[string]string{
		"results":          `{"version":2,"runs":[{"results":` + many(`{}`) + `}]}`,
		"null results":     `{"version":2,"runs":[{"results":` + many(`null`) + `}]}`,
		"distinct results": `{"version":2,"runs":[{"results":[` + strings.Join(distinct, ",") + `]}]}`,
		"runs":             `{"version":2,"runs":` + many(`{}`) + `}`,
		"empty runs":       `{"version":2,"runs":` + many(`{"results":[]}`) + `}`,
		"samples":          of("samples", `{}`),
		"whole samples":    of("samples", `{"measure":{"name":"m","direction":"lower"}}`),
		"warnings":         of("warnings", `""`),
		"missing shards":   `{"version":2,"runs":[{"missing":` + many(`"1/2"`) + `,"results":[]}]}`,
		"another spelling": `{"version":2,"Runs":` + many(`{}`) + `}`,
		"twice":            `{"version":2,"runs":[{"results":[{"benchmark":"a"}],"results":` + many(`{}`) + `}]}`,
		"pairs":            `{"version":2,"comparisons":[{"pairs":` + many(`{}`) + `}]}`,
	}
}

func TestWhatIsRefusedTakesLittleMemory(t *testing.T) {
	for name, text := range hostile(300_000) {
		for what, decode := range map[string]func(string) error{
			"runs":       func(s string) error { _, err := DecodeRuns(strings.NewReader(s)); return err },
			"comparison": func(s string) error { _, err := DecodeComparison(strings.NewReader(s)); return err },
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := decode(text)
			runtime.ReadMemStats(&after)
			// The text is in memory twice while it is read, beside the longest list that
			// is allowed, which grows.
			took, most := after.TotalAlloc-before.TotalAlloc, uint64(8*len(text)+64<<20)
			if name == "distinct results" {
				most += maxResults * uint64(unsafe.Sizeof(resultDoc{})+5*unsafe.Sizeof(Result{}))
			}
			if err == nil || took > most {
				t.Errorf("%s read as %s: %d MiB for %d MiB of text, error %v", name, what, took>>20, len(text)>>20, err)
			}
		}
	}
}
