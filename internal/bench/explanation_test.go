package bench

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sampleExplanation() *Explanation {
	machine := 3
	return &Explanation{
		Tool: "v1", Started: time.Unix(1_700_000_000, 0).UTC(),
		Testbed: Testbed{Mode: ModeHost, Kernel: "6.12.1"},
		Base:    &Side{Name: "main"}, Head: Side{Name: "head.o"},
		Programs: []Explained{
			{
				Benchmark: "xdp/a", Driver: "test_run",
				Base: &ExplainedSide{Object: "a.o", Program: "a", Runs: 4, Executed: Executed{PerRun: 2, Instructions: 2}},
				Head: &ExplainedSide{Object: "a.o", Program: "a", Runs: 4, Executed: Executed{PerRun: 19.25, Instructions: 3}},
				Lines: []Line{{
					Program: "a", Function: "a", File: "a.c", Number: 41, Text: "\ti++;", Offset: 3, InFunction: 1, InFunctionEnd: 4, BaseNumber: 40, BaseFile: "b.c", BaseText: "\ti += 2;",
					Base: &Executed{PerRun: 2, Instructions: 2, Times: 1, Calls: []string{"bpf_map_lookup_elem"}, Spread: &Spread{1, 4}},
					Head: &Executed{PerRun: 19.25, Instructions: 3, FirstOnly: true, Notes: []string{"the tail call failed"}, Code: []Code{{Offset: 3, Text: "r0 += 1", PerRun: 7, Machine: &machine}}},
				}},
				Warnings: []string{"it differs from run to run"},
			},
			{Benchmark: "xdp/b", Lines: []Line{}, Error: "the verifier refuses it"},
		},
	}
}

func TestEncodeDecodeExplanation(t *testing.T) {
	want := sampleExplanation()
	var text bytes.Buffer
	if err := EncodeExplanations(&text, want); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeExplanation(&text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Lists are never null, so readers in other languages need no test for it.
func TestEncodeExplanationHasLists(t *testing.T) {
	var text bytes.Buffer
	if err := EncodeExplanations(&text, &Explanation{Programs: []Explained{{Benchmark: "a", Error: "x"}}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "null") {
		t.Error(text.String())
	}
}

func TestDecodeExplanationRefuses(t *testing.T) {
	line := func(l string) string {
		return fmt.Sprintf(`{"version":2,"explanations":[{"programs":[{"benchmark":"a","head":{},"lines":[%s]}]}]}`, l)
	}
	for _, c := range []struct{ in, want string }{
		{"", "ends before"},
		{"[]", "decode results"},
		{"{}", "no version"},
		{`{"version":2,"explanations":[{}]}`, "no programs"},
		{`{"version":1,"programs":[]}`, "version 1 is not known"},
		{`{"version":2,"explanations":[{"programs":[]}]}{}`, "something follows"},
		{`{"version":2,"explanations":[{"programs":[{}]}]}`, "no benchmark"},
		{`{"version":2,"explanations":[{"programs":[{"benchmark":"a"}]}]}`, "neither base nor head"},
		{`{"version":2,"explanations":[{"programs":[{"benchmark":"a","head":{}},{"benchmark":"a","head":{}}]}]}`, "occurs twice"},
		{`{"version":2,"explanations":[{"programs":[{"benchmark":"a","head":{"per_run":-1}}]}]}`, "-1 instructions"},
		{`{"version":2,"explanations":[{"programs":[{"benchmark":"a","head":{"program":"` + strings.Repeat("x", 600) + `"}}]}]}`, "too long"},
		{line(`{}`), "on no side"},
		{line(`{"head":{"per_run":-1}}`), "-1 instructions"},
		{line(`{"head":{},"offset":-1}`), "a place that there is not"},
		{line(`{"head":{},"file":"a\u001b[2J.c","line":1}`), "cannot be printed"},
		{line(`{"head":{"code":[{}]}}`), "no text"},
		{line(`{"head":{"code":[{"text":"x","machine":-1}]}}`), "negative"},
	} {
		if _, err := DecodeExplanation(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("DecodeExplanation(%.80s) = %v, want an error with %q", c.in, err, c.want)
		}
	}
}

func FuzzDecodeExplanation(f *testing.F) {
	var one bytes.Buffer
	if err := EncodeExplanations(&one, sampleExplanation()); err != nil {
		f.Fatal(err)
	}
	f.Add(one.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := DecodeExplanation(bytes.NewReader(text))
		if err != nil {
			return
		}
		// Accepted input can be written, and is the same when it is read again.
		var b bytes.Buffer
		if err := EncodeExplanations(&b, got); err != nil {
			t.Fatal(err)
		}
		if again, err := DecodeExplanation(&b); err != nil || len(again.Programs) != len(got.Programs) {
			t.Fatalf("%+v, %v", again, err)
		}
	})
}
