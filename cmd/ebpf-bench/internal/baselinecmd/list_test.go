package baselinecmd

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/ebpf-bench-action/internal/baseline"
	"github.com/org/ebpf-bench-action/internal/report/grid"
)

// No line of the list is wider than the terminal, and nothing is cut off.
func TestListOfRunsFits(t *testing.T) {
	runs := []baseline.Meta{
		{ID: "20261121T114900Z-5f0c2a91", Branch: "feature/parse-vlan", Commit: strings.Repeat("1a", 20), Time: time.Unix(1_700_000_000, 0), Tags: []string{"v1.2", "nightly"}, Machine: "host, Linux 6.18.44-cloud-amd64, x86_64, AMD EPYC 7763 64-Core Processor, 2 cores", Digests: []string{"a"}},
		{ID: "20261120T114900Z-5f0c2a92", Time: time.Unix(1_700_000_000, 0), Machine: "exact, Linux 6.12, x86_64, QEMU 10.0"},
	}
	for _, columns := range []int{0, 50, 80, 300} {
		var b bytes.Buffer
		if err := printRuns(&b, runs, columns); err != nil {
			t.Fatal(err)
		}
		whole := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range []string{runs[0].ID, runs[1].ID, "feature/parse-vlan", "1a1a1a1a1a1a", "v1.2, nightly"} {
			if !strings.Contains(whole, want) {
				t.Errorf("in %d columns %q is missing:\n%s", columns, want, &b)
			}
		}
		for i, short := range []string{"host 6.18.44, AMD EPYC 7763 64-Core Processor", "exact 6.12"} {
			want := runs[i].Machine
			if columns == 0 || columns == 300 {
				want = short
			}
			if !strings.Contains(whole, want) {
				t.Errorf("in %d columns %q is missing:\n%s", columns, want, &b)
			}
		}
		if width := grid.Width(b.String()); columns > 0 && width > columns {
			t.Errorf("in %d columns there are %d:\n%s", columns, width, &b)
		}
		if table := strings.HasPrefix(b.String(), "run "); table != (columns == 0 || columns == 300) {
			t.Errorf("in %d columns:\n%s", columns, &b)
		}
	}
}

// Two testbeds with the same short name are shown with their whole names.
func TestShortMachines(t *testing.T) {
	runs := []baseline.Meta{
		{Machine: "exact, Linux 6.12.107+deb13-cloud-amd64, x86_64, QEMU 10.0"},
		{Machine: "exact, Linux 6.1.0-50-cloud-amd64, x86_64, QEMU 10.0"},
		{Machine: "exact, Linux 6.1.0-51-cloud-amd64, x86_64, QEMU 10.0"},
		{Machine: "exact, Linux 6.12.107+deb13-cloud-amd64, x86_64, QEMU 10.0"},
		{Machine: "host, Linux 6.18.44, x86_64, AMD EPYC, 2 cores"},
		{Machine: "something else"},
	}
	want := []string{"exact 6.12.107", runs[1].Machine, runs[2].Machine, "exact 6.12.107", "host 6.18.44, AMD EPYC", "something else"}
	if got := shortMachines(runs); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
