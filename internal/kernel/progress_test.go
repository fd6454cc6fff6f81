package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/ebpf-bench-action/internal/kernel/debiantest"
	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/kernel/imagetest"
)

// watch is a Progress that records what it is shown.
type watch struct{ all []*watched }

type watched struct {
	name             string
	size, have, most int64
	back, ended      int
}

func (w *watch) Start(name string, size int64) fetch.Download {
	d := &watched{name: name, size: size}
	w.all = append(w.all, d)
	return d
}

func (d *watched) Have(n int64) {
	if n < d.have {
		d.back++
	}
	d.have, d.most = n, max(d.most, n)
}

func (d *watched) End() { d.ended++ }

// wantWhole checks that a download was shown from its start to its end.
func (d *watched) wantWhole(t *testing.T) {
	t.Helper()
	if d.size == 0 || d.have != d.size || d.most != d.size || d.back > 0 || d.ended != 1 {
		t.Errorf("%+v", *d)
	}
}

func (w *watch) names() string {
	var names []string
	for _, d := range w.all {
		names = append(names, d.name)
	}
	return strings.Join(names, ", ")
}

func TestTheDownloadOfADebianKernelIsShown(t *testing.T) {
	r := debiantest.NewMirror()
	d, shown := archiveOf(r.Root(t)), &watch{}
	s := Source{Progress: shown, apt: d}
	c := newCache(t)
	c.source = s.Load
	k, err := c.Resolve(t.Context(), "trixie-backports")
	wantTestKernel(t, k, err)
	if got := shown.names(); got != "the index of Debian trixie-backports, linux-image-"+imagetest.Release {
		t.Errorf("shown are %s", got)
	}
	size := 0
	for _, part := range []string{"image", "base", "binary", "modules"} {
		size += len(r.Files[fmt.Sprintf("pool/main/l/linux/linux-%s-%s.deb", part, imagetest.Release)])
	}
	if last := shown.all[len(shown.all)-1]; last.size != int64(size) {
		t.Errorf("the packages have %d bytes, not %d", last.size, size)
	}
	for _, d := range shown.all {
		d.wantWhole(t)
	}
}

func TestADownloadThatFailsIsNoLongerShown(t *testing.T) {
	r := debiantest.NewMirror()
	delete(r.Files, "pool/main/l/linux/linux-modules-"+imagetest.Release+".deb")
	shown := &watch{}
	_, err := Source{Progress: shown, apt: archiveOf(r.Root(t))}.Load(t.Context(), "trixie-backports")
	imagetest.WantError(t, err, "404 Not Found")
	if last := shown.all[len(shown.all)-1]; last.have == 0 || last.have >= last.size || last.ended != 1 {
		t.Errorf("%+v", *last)
	}
}

func TestTheDownloadOfAnOCIImageIsShown(t *testing.T) {
	reference, img := pushed(t, imagetest.Installed(), imagetest.Files{"bin/sh": []byte("a shell")})
	shown := &watch{}
	c := newCache(t)
	c.Progress = shown
	k, err := c.Resolve(t.Context(), "oci:"+reference)
	wantTestKernel(t, k, err)
	if shown.names() != reference || shown.all[0].size != imagetest.Must(layersOf(img)) {
		t.Fatalf("shown are %s", shown.names())
	}
	shown.all[0].wantWhole(t)
}
