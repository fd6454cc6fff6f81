package action

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/testenv"
)

// Reading accepts what was written, with all fields.
func TestStrictKeys(t *testing.T) {
	all := strangers{func() string { return "x" }}
	c, run := all.comparison(), all.run()
	c.BaseTestbed, c.Confirmed, c.Shard, c.Missing = &c.Testbed, c.Pairs[:1], &bench.Shard{Part: 1, Of: 3}, bench.Shards{{Part: 2, Of: 3}}
	c.Started = time.Now()
	run.Results[0].Retvals, run.Results[0].Traffic, run.Results[0].Path = map[uint32]uint64{2: 3}, &bench.Traffic{}, &bench.Path{}
	run.Results[0].Alerts = []bench.Alert{{Measure: "x"}}
	for what, encode := range map[string]func(*bytes.Buffer) error{
		"a run":           func(b *bytes.Buffer) error { return bench.EncodeRuns(b, run) },
		"two runs":        func(b *bytes.Buffer) error { return bench.EncodeRuns(b, run, run) },
		"a comparison":    func(b *bytes.Buffer) error { return bench.EncodeComparisons(b, c) },
		"two comparisons": func(b *bytes.Buffer) error { return bench.EncodeComparisons(b, c, c) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		if err := checkKeys(bytes.NewReader(b.Bytes())); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		// Add a key wherever there is an object with known keys.
		text := b.String()
		for _, key := range []string{`"version":`, `"benchmark":`, `"mode":`, `"measure":`} {
			if i := strings.Index(text, key); i >= 0 {
				if err := checkKeys(strings.NewReader(text[:i] + `"evil":{"a":[1]},` + text[i:])); err == nil || err.Error() != `results have no key "evil"` {
					t.Errorf("%s, before %s: %v", what, key, err)
				}
			}
		}
	}
}

func TestStrictKeysRefuse(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":1,"version":2}`: `the key "version" comes twice`,
		`{"Version":1}`:             `results have no key "Version"`,
		`{"runs":[{"":1}]}`:         `results have no key ""`,
		`{"tables":[]}`:             `results have no key "tables"`,
		`{"version":1}{}`:           "something follows the document",
		`{"version":1`:              "the document ends before it is complete",
		``:                          "the document ends before it is complete",
	} {
		if err := checkKeys(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Results that would keep a job busy for long are not read.
func TestResultsAreBounded(t *testing.T) {
	testenv.Plain(t)
	name := filepath.Join(t.TempDir(), "results.json")
	run := &bench.Run{Testbed: bench.Testbed{Mode: bench.ModeExact, Kernel: "6.12"}}
	for i := range maxReported + 1 {
		run.Results = append(run.Results, bench.Result{Benchmark: fmt.Sprint(i)})
	}
	for n, want := range map[int]bool{maxReported: true, maxReported + 1: false} {
		var b bytes.Buffer
		part := *run
		part.Results = run.Results[:n]
		if err := bench.EncodeRuns(&b, &part); err != nil {
			t.Fatal(err)
		}
		testenv.Write(t, name, b.Bytes())
		if _, err := readResults(name, false); (err == nil) != want {
			t.Errorf("%d: %v", n, err)
		}
	}
	if err := os.Truncate(name, maxResultBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := readResults(name, true); err == nil || !strings.HasSuffix(err.Error(), "larger than 64 MiB") {
		t.Errorf("%v", err)
	}
}
