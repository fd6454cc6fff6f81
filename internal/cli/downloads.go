package cli

import (
	"sync"

	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// downloads shows what is downloaded for kernels: a line for each that starts
// and, on a terminal, a bar below. All that are under way at once share the
// bar: there is room for one.
type downloads struct {
	t *ui.Terminal

	mu         sync.Mutex
	bar        *ui.Bar
	active     int
	have, size int64 // of those since none was active
}

// Downloads shows on a terminal what is downloaded for kernels.
func Downloads(t *ui.Terminal) fetch.Progress { return &downloads{t: t} }

// Start is for fetch.Progress.
func (d *downloads) Start(name string, size int64) fetch.Download {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bar.Remove()
	d.t.Say("downloading %s (%s)", name, unit.Bytes(float64(size)))
	d.active++
	d.size += size
	d.bar = d.t.Bar(d.size, "downloading")
	d.bar.Set(d.have)
	return &download{all: d}
}

// download is one of those under way.
type download struct {
	all   *downloads
	have  int64
	ended bool
}

// Have is for fetch.Download. What is closed early may still read a little.
func (d *download) Have(n int64) {
	d.all.mu.Lock()
	defer d.all.mu.Unlock()
	if d.ended {
		return
	}
	d.all.have += n - d.have
	d.have = n
	d.all.bar.Set(d.all.have)
}

// End is for fetch.Download.
func (d *download) End() {
	d.all.mu.Lock()
	defer d.all.mu.Unlock()
	d.ended = true
	d.all.active--
	if d.all.active == 0 {
		d.all.bar.Remove()
		d.all.bar, d.all.have, d.all.size = nil, 0, 0
	}
}
