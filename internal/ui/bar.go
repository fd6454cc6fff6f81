package ui

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar shows how much of something is done, as a line of a terminal. A nil one, which
// is that of anything else than a terminal, shows nothing.
type Bar struct {
	line *Line
	bar  *progressbar.ProgressBar
}

// Bar begins a bar, for so much of what is said.
func (t *Terminal) Bar(total int64, what string) *Bar {
	if !IsTerminal(t.Stderr) {
		return nil
	}
	line := t.live.add()
	return &Bar{line, progressbar.NewOptions64(total,
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWriter(line),
		progressbar.OptionSetWidth(barWidth(Width(t.Stderr))),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
	)}
}

// barWidth is how wide a bar may be so that its line, which is 60 characters
// without it, is shown as a whole.
func barWidth(columns int) int { return min(max(columns-60, 1), 30) }

// Add says that more is done.
func (b *Bar) Add(n int64) {
	if b != nil {
		_ = b.bar.Add64(n)
	}
}

// Set says how much is done.
func (b *Bar) Set(n int64) {
	if b != nil {
		_ = b.bar.Set64(n)
	}
}

// Grow changes how much there is to do.
func (b *Bar) Grow(total int64) {
	if b != nil {
		b.bar.ChangeMax64(total)
	}
}

// Remove takes the bar off the terminal.
func (b *Bar) Remove() {
	if b != nil {
		b.line.Remove()
	}
}
