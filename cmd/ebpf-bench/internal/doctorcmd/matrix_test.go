package doctorcmd

import (
	"bytes"
	"testing"

	"github.com/org/ebpf-bench-action/internal/probe"
	"github.com/org/ebpf-bench-action/internal/ui"
)

func kernelWith(release string, answers ...probe.Answer) examined {
	k := examined{release: release}
	for i, a := range answers {
		f := probe.Finding{Probe: probe.Probe{Name: []string{"tc", "live frames"}[i]}, Answer: a}
		if a != probe.Yes {
			f.Reason = "too old\nby far"
		}
		k.findings = append(k.findings, f)
	}
	return k
}

func TestMatrix(t *testing.T) {
	for name, c := range map[string]struct {
		kernels []examined
		color   string
		want    string
	}{
		"an old and a new one": {
			[]examined{kernelWith("5.10.0-46-cloud-amd64", probe.Yes, probe.No), kernelWith("6.12.107+deb13-amd64", probe.Yes, probe.Yes)},
			"never",
			"             5.10.0   6.12.107\n" +
				"tc           yes      yes\n" +
				"live frames  no       yes\n" +
				"\nlive frames on 5.10.0-46-cloud-amd64: too old by far\n",
		},
		"two of a version": {
			[]examined{kernelWith("6.1.0-1", probe.Yes), kernelWith("6.1.0-2", probe.Yes)},
			"never",
			"    6.1.0-1  6.1.0-2\n" +
				"tc  yes      yes\n",
		},
		"one that was asked less": {
			[]examined{kernelWith("6.1", probe.Yes), kernelWith("6.2", probe.Yes, probe.Yes)},
			"never",
			"             6.1      6.2\n" +
				"tc           yes      yes\n" +
				"live frames  unknown  yes\n" +
				"\nlive frames on 6.1: not asked\n",
		},
		"in color": {
			[]examined{kernelWith("6.1", probe.Yes), kernelWith("6.2", probe.No)},
			"always",
			"    6.1      6.2\n" +
				"tc  \x1b[32myes\x1b[0m      \x1b[33mno\x1b[0m\n" +
				"\ntc on 6.2: too old by far\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			term := ui.New(&out, nil)
			term.Color = c.color
			if err := printMatrix(term, c.kernels); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != c.want {
				t.Errorf("printed\n%q, want\n%q", got, c.want)
			}
		})
	}
}
