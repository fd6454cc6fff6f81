package cli

import (
	"sync"

	"github.com/org/ebpf-bench-action/internal/kernel/fetch"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// downloads shows the downloads of kernels: a line for each that starts and, on a
// terminal, a bar below. All concurrent downloads share the bar, because there is room for
// only one.
type downloads struct {
	t *ui.Terminal

	mu         sync.Mutex
	bar        *ui.Bar
	active     int
	have, size int64 // total since none was active
}

// Downloads implements fleet.Watch.
func (w Watch) Downloads() fetch.Progress { return &downloads{t: w.Terminal} }

// Start implements fetch.Progress.
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

// download is a download in progress.
type download struct {
	all   *downloads
	have  int64
	ended bool
}

// Have implements fetch.Download. A download that was closed early may still read a
// little.
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

// End implements fetch.Download.
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
