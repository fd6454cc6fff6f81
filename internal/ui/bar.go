package ui

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar shows progress as a line of a terminal. A nil Bar, as for anything but a
// terminal, shows nothing.
type Bar struct {
	line *Line
	bar  *progressbar.ProgressBar
}

// Bar starts a bar that counts up to total, labelled what.
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

// barWidth returns the largest width at which the whole line of the bar is
// shown; the rest of the line takes 60 characters.
func barWidth(columns int) int { return min(max(columns-60, 1), 30) }

// Add adds n to the progress.
func (b *Bar) Add(n int64) {
	if b != nil {
		_ = b.bar.Add64(n)
	}
}

// Set sets the progress.
func (b *Bar) Set(n int64) {
	if b != nil {
		_ = b.bar.Set64(n)
	}
}

// Grow changes the total.
func (b *Bar) Grow(total int64) {
	if b != nil {
		b.bar.ChangeMax64(total)
	}
}

// Remove removes the bar from the terminal.
func (b *Bar) Remove() {
	if b != nil {
		b.line.Remove()
	}
}
