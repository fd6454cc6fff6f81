package bench

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sampleRun() *Run {
	r := Result{
		Benchmark: "xdp/basic", Driver: "test_run", Object: "fun.o", Program: "basic", Type: "xdp",
		Retvals: map[uint32]uint64{2: 20},
		Samples: []Sample{{Latency, []float64{1.5, 2.25}}},
	}
	r.Rounds.Add(0, 100, 2, 300, 1)
	r.Rounds.Add(1, 110, 2, 310, 0)
	r.Floor.Add(0, 80, 2, 200, 0)
	r.Floor.Add(1, 81, 2, 200, 0)
	return &Run{
		Version: RunVersion, Tool: "dev", Started: time.Unix(1700000000, 0).UTC(), Seed: 1 << 60, Loads: 2,
		Testbed: Testbed{Mode: "host", Kernel: "6.18"}, Results: []Result{r},
	}
}

func TestEncodeDecode(t *testing.T) {
	var b bytes.Buffer
	want := sampleRun()
	if err := Encode(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b)
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
		{`{"version":1,"results":[`, "ends before it is complete"},
		{`{}`, "no version"},
		{`{"version":2}`, "version 2 is not known"},
		{`[]`, "cannot unmarshal"},
		{`{"version":1} {}`, "something follows"},
		{`{"version":1,"results":[{}]}`, "no benchmark"},
		{`{"version":1,"results":[{"benchmark":"a"},{"benchmark":"a"}]}`, "occurs twice"},
		{`{"version":1,"results":[{"benchmark":"a","rounds":{"run_cnt":[1]}}]}`, "different lengths"},
		{`{"version":1,"results":[{"benchmark":"a","samples":[{}]}]}`, "no measure"},
		{`{"version":1,"results":[{"benchmark":"a","samples":[{"measure":{"name":"m"}}]}]}`, "direction"},
		{`{"version":1,"results":[{"benchmark":"a","samples":[{"measure":{"name":"m","direction":"lower"},"values":[1e999]}]}]}`, "decode run"},
	} {
		if _, err := Decode(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Decode(%s) = %v, want an error with %q", c.in, err, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	if err := Encode(&b, sampleRun()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"version":1,"results":[{"benchmark":"a","samples":null}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		run, err := Decode(bytes.NewReader(in))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Encode(&out, run); err != nil {
			t.Fatalf("a run that was read cannot be written: %v", err)
		}
		written := out.String()
		again, err := Decode(&out)
		if err != nil {
			t.Fatalf("a run that was written cannot be read: %v", err)
		}
		if err := Encode(&out, again); err != nil || out.String() != written {
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

func TestEncodeDecodeAll(t *testing.T) {
	for _, want := range [][]*Run{{sampleRun()}, {sampleRun(), sampleRun()}} {
		var b bytes.Buffer
		if err := EncodeAll(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := DecodeAll(&b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d runs do not survive their JSON: %v", len(want), err)
		}
	}
	for _, bad := range []string{``, `{"runs":[{}]}`, `{"runs":[`, `[]`} {
		if _, err := DecodeAll(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read as runs", bad)
		}
	}
}
