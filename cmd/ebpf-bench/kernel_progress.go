package main

import (
	"sync"

	"github.com/schollz/progressbar/v3"

	"github.com/org/ebpf-bench-action/internal/kernel"
	"github.com/org/ebpf-bench-action/internal/ui"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// downloads shows what is downloaded for kernels: a line for each that starts
// and, on a terminal, a bar below. All that are under way at once share the
// bar: there is room for one.
type downloads struct {
	t *ui.Terminal

	mu         sync.Mutex
	bar        *progressbar.ProgressBar // nil unless on a terminal
	line       *ui.Line
	active     int
	have, size int64 // of those since none was active
}

func newDownloads(t *ui.Terminal) *downloads { return &downloads{t: t} }

// Start is for kernel.Progress.
func (d *downloads) Start(name string, size int64) kernel.Download {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clear()
	d.t.Say("downloading %s (%s)", name, unit.Bytes(float64(size)))
	d.active++
	d.size += size
	if ui.IsTerminal(d.t.Stderr) {
		d.line = d.t.Line()
		d.bar = progressbar.NewOptions64(d.size, append(barOptions(d.t, d.line), progressbar.OptionSetDescription("downloading"))...)
		_ = d.bar.Set64(d.have)
	}
	return &download{all: d}
}

// clear takes the bar off the terminal.
func (d *downloads) clear() {
	if d.bar != nil {
		d.line.Remove()
		d.bar = nil
	}
}

// download is one of those under way.
type download struct {
	all   *downloads
	have  int64
	ended bool
}

// Have is for kernel.Download. What is closed early may still read a little.
func (d *download) Have(n int64) {
	d.all.mu.Lock()
	defer d.all.mu.Unlock()
	if d.ended {
		return
	}
	d.all.have += n - d.have
	d.have = n
	if d.all.bar != nil {
		_ = d.all.bar.Set64(d.all.have)
	}
}

// End is for kernel.Download.
func (d *download) End() {
	d.all.mu.Lock()
	defer d.all.mu.Unlock()
	d.ended = true
	d.all.active--
	if d.all.active == 0 {
		d.all.clear()
		d.all.have, d.all.size = 0, 0
	}
}
