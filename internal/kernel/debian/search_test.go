package debian

import (
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/debiantest"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

func TestAVersionIsLookedUpInTheSuitesThatMoveOn(t *testing.T) {
	for suite, edit := range map[string]func(r *debiantest.Mirror){
		"trixie-backports": func(r *debiantest.Mirror) { r.AddSuite("testing", "") },
		"testing":          func(r *debiantest.Mirror) { r.Release = debiantest.Expired },
		"unstable": func(r *debiantest.Mirror) {
			r.Release = debiantest.Expired
			r.AddSuite("testing", debiantest.Expired)
		},
	} {
		t.Run(suite, func(t *testing.T) {
			r := debiantest.NewMirror()
			edit(r)
			r.AddSuite("unstable", "")
			if suite == "testing" {
				r.AddSuite("testing", "")
			}
			k, err := archiveOf(t, r).search(t.Context(), "6.12")
			wantKernel(t, r, suite, k, err)
		})
	}
}

// If a suite that moves on has a series, the error names its kernels.
func TestAVersionThatTheSuitesOfItsSeriesLack(t *testing.T) {
	r := debiantest.NewMirror()
	r.AddSuite("testing", "")
	_, err := archiveOf(t, r).search(t.Context(), "6.12.42")
	imagetest.WantError(t, err, "no Debian suite has Linux 6.12.42: trixie-backports has 6.12.107+deb13; ", "; testing has 6.12.107+deb13")
	imagetest.WantHint(t, err, "OCI image")
}
