package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
)

func TestObjectsTable(t *testing.T) {
	r := &objectsReport{
		Testbed: bench.Testbed{Kernel: "6.12.1"},
		Unread:  map[string]string{"b.o": "it is truncated"},
		Programs: []objectsProgram{
			{Object: "a.o", Program: "good", Cilium: true, Libbpf: true, Loads: true},
			{Object: "a.o", Program: "fixed", Loads: true, Changes: []string{"map m has 64 entries instead of 0"}},
			{Object: "a.o", Program: "named", Libbpf: true, Class: "its license", Why: "cannot call\x1b[31m"},
			{Object: "a.o", Program: "lost", Cilium: true, Class: "refused by the kernel", Why: "no such device"},
			{Object: "a.o", Program: "refused", Class: "refused by the verifier", Why: "R1 !read_ok"},
			{Object: "b.o", Program: "(all)", Libbpf: true, Class: classUnreadable, Why: "it is truncated"},
		},
	}
	r.sum()
	var b bytes.Buffer
	if err := printObjects(&b, []*objectsReport{r}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"6.12.1  6         2       3       4      1 25.00%  1         2    1        1\n",
		"  its license: 1\n    a.o named: TAKEN AS IT IS: cannot call",
		"    a.o refused: R1 !read_ok\n",
		"  b.o: not read: it is truncated\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("what a program says moves the cursor")
	}
	if r.Total.lost() != 2 {
		t.Errorf("%d programs are lost, want 2", r.Total.lost())
	}
	table, _, _ := strings.Cut(b.String(), "\n\n")
	if width := report.Width(table); width > 110 {
		t.Errorf("the table is %d columns wide", width)
	}
}
