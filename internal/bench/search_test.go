package bench

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sampleSearch() *Search {
	alive := 12
	return &Search{
		Tool: "v1", Started: time.Unix(1_700_000_000, 0).UTC(), Testbed: Testbed{Mode: ModeHost, Kernel: "6.12.1"}, Seed: 3,
		Programs: []Searched{
			{
				Benchmark: "xdp/a", Object: "a.o", Program: "a", Type: "xdp", Tried: 100, Refused: 3, Unsteady: 1, Elapsed: 0.5,
				Blocks: Coverage{All: 14, Alive: &alive, Default: 4, Reached: 11},
				Inputs: []FoundInput{
					{Name: InputDefault, Packets: []string{"00ff"}, PerRun: 32, Retvals: []uint32{2}, Reached: 4, New: 4, Lines: []Source{{"a.c", 3, "a"}}},
					{
						Name: InputWorst, Packets: []string{"01", "02"}, Context: "0a", Entries: []FoundEntry{{"m", "01", "0203"}}, Fresh: true,
						PerRun: 99.5, Retvals: []uint32{1, 2}, Reached: 11, New: 7, Dearest: &Source{"a.c", 7, "b"},
					},
				},
				Unreached: []Source{{"a.c", 9, "a"}}, Warnings: []string{"a map keeps what runs leave"},
			},
			{Benchmark: "xdp/b", Inputs: []FoundInput{}, Error: "the verifier refuses it", Hint: "change it", Log: "r0 !read_ok"},
		},
	}
}

func TestEncodeDecodeSearch(t *testing.T) {
	want := sampleSearch()
	var text bytes.Buffer
	if err := EncodeSearches(&text, want); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeSearch(&text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDecodeSearchRefuses(t *testing.T) {
	program := func(text string) string {
		return fmt.Sprintf(`{"version":2,"searches":[{"programs":[{"benchmark":"a","blocks":{"all":3,"reached":2,"default":1},%s}]}]}`, text)
	}
	input := func(text string) string { return program(fmt.Sprintf(`"inputs":[%s]`, text)) }
	for _, c := range []struct{ in, want string }{
		{`{"version":2,"searches":[{}]}`, "no programs"},
		{`{"version":2,"searches":[{"programs":[{}]}]}`, "no benchmark"},
		{`{"version":2,"searches":[{"programs":[{"benchmark":"a"},{"benchmark":"a"}]}]}`, "occurs twice"},
		{`{"version":2,"searches":[{"programs":[]}],"runs":[{"results":[]}]}`, "several kinds"},
		{program(`"tried":-1`), "figures that cannot be"},
		{program(`"blocks":{"all":1,"reached":2}`), "figures that cannot be"},
		{program(`"unreached":[{"file":"a\u001b.c","line":1}]`), "cannot be printed"},
		{input(`{}`), "no name"},
		{input(`{"name":"worst","per_run":-1}`), "figures that cannot be"},
		{input(`{"name":"worst","packets":["0"]}`), "not hex"},
		{input(`{"name":"worst","context":"xy"}`), "not hex"},
		{input(`{"name":"worst","entries":[{"key":"00"}]}`), "no map"},
		{input(`{"name":"worst","packets":["` + strings.Repeat("00", maxHex) + `"]}`), "digits"},
	} {
		if _, err := DecodeSearch(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("DecodeSearch(%.80s) = %v, want an error with %q", c.in, err, c.want)
		}
	}
	if _, err := DecodeRuns(strings.NewReader(`{"version":2,"searches":[{"programs":[]}]}`)); err == nil || !strings.Contains(err.Error(), "ebpf-bench search") {
		t.Errorf("a search is read as runs: %v", err)
	}
}
