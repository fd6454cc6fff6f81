package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// table reads a document as RFC 4180 has it: all lines have as many fields as the
// header, and none of them is a formula.
func cells(t *testing.T, text string) (all []map[string]string) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[lines[0][i]] = cell
			if _, err := strconv.ParseFloat(cell, 64); cell != "" && err != nil && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("%q is a formula", cell)
			}
		}
		all = append(all, row)
	}
	return all
}

func TestCSV(t *testing.T) {
	run := exampleRun()
	const hostile, odd = `=HYPERLINK("http://x")`, "with, \"quotes\"\nand lines"
	run.Results = append(run.Results, loadsOf(hostile, -1.5), loadsOf(odd, 2))
	run.Results[0].CPUs = 4
	var b bytes.Buffer
	if err := CSV(&b, NewModel(run, run)); err != nil {
		t.Fatal(err)
	}
	rows := cells(t, b.String())
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
	if r := find("xdp/refused", ""); !strings.Contains(r["error"], "refuses program") || r["values"] != "0" {
		t.Errorf("%v", r)
	}
}

func TestCompareCSV(t *testing.T) {
	for name, m := range models() {
		var b bytes.Buffer
		if err := CompareCSV(&b, m); err != nil {
			t.Fatal(err)
		}
		verdicts := 0
		for _, r := range m.rows() {
			verdicts += max(1, len(r.verdicts()))
		}
		rows := cells(t, b.String())
		if len(rows) != verdicts {
			t.Errorf("%s: %d lines of %d verdicts", name, len(rows), verdicts)
		}
		for _, r := range rows {
			switch {
			case r["benchmark"] == "" || r["verdict"] == "" || r["kernel"] == "":
				t.Errorf("%s: %v", name, r)
			case r["delta"] == "-0":
				t.Errorf("%s: a zero has a sign: %v", name, r)
			case r["verdict"] == "added" && r["measure"] == "latency" && r["head"] == "":
				t.Errorf("%s: what was measured of the head is missing: %v", name, r)
			case r["exact"] == "true" && r["p"] != "":
				t.Errorf("%s: what is exact has a p-value: %v", name, r)
			}
		}
	}
}
