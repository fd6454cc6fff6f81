package measured

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/escape/escapetest"
	"github.com/org/ebpf-bench-action/internal/report/reporttest"
)

func TestCSV(t *testing.T) {
	run := exampleRun()
	const hostile, odd = `=HYPERLINK("http://x")`, "with, \"quotes\"\nand lines"
	run.Results = append(run.Results, loadsOf(hostile, -1.5), loadsOf(odd, 2), loadsOf("::error::x", 2), loadsOf("two\n::error::x", 2))
	run.Results[0].CPUs = 4
	var b bytes.Buffer
	if err := CSV(&b, New(run, run)); err != nil {
		t.Fatal(err)
	}
	rows := reporttest.Sheet(t, b.String())
	find := func(benchmark, measure string) map[string]string {
		i := slices.IndexFunc(rows, func(r map[string]string) bool { return r["benchmark"] == benchmark && r["measure"] == measure })
		if i < 0 {
			t.Fatalf("no %s of %s", measure, benchmark)
		}
		return rows[i]
	}
	if r := find("'"+hostile, "latency"); r["median"] != "-1.5" || r["unit"] != "ns" || r["values"] != "3" || r["exact"] != "false" || r["kernel"] != "6.12.1" || r["mode"] != "host" {
		t.Errorf("%v", r)
	}
	if one, all := find(odd, "latency"), find("xdp/basic", "latency"); one["cpus"] != "1" || all["cpus"] != "4" {
		t.Errorf("on %s and %s CPUs", one["cpus"], all["cpus"])
	}
	if r := find(odd, "bpf-insns"); r["median"] != "47.5" || r["lower_quartile"] != "47.5" || r["exact"] != "true" || r["object"] != "bpf/a.o" {
		t.Errorf("%v", r)
	}
	var text bytes.Buffer
	if err := Text(&text, New(run)); err != nil {
		t.Fatal(err)
	}
	for _, printed := range []string{b.String(), text.String()} {
		escapetest.CheckLog(t, printed)
	}
	if r := find("xdp/refused", ""); !strings.Contains(r["error"], "refuses program") || r["values"] != "0" {
		t.Errorf("%v", r)
	}
}
