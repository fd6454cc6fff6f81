package ui

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar shows how far something is: a bar on a terminal, elsewhere a percentage as a Stage
// shows it. A nil Bar shows nothing.
type Bar struct {
	done, total int64
	show        func(done, total int64)
	remove      func()
}

// Bar starts a bar that counts up to total, labelled what.
func (t *Terminal) Bar(total int64, what string) *Bar {
	if !IsTerminal(t.Stderr) {
		stage := t.Stage(what)
		b := &Bar{total: total, remove: stage.End, show: func(done, total int64) {
			stage.Set(fmt.Sprintf("%d%%", 100*done/max(total, 1)))
		}}
		b.Set(0)
		return b
	}
	line := t.Line()
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWriter(line),
		progressbar.OptionSetWidth(barWidth(Width(t.Stderr))),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
	)
	return &Bar{total: total, remove: line.Remove, show: func(done, total int64) {
		bar.ChangeMax64(total)
		_ = bar.Set64(done)
	}}
}

// barWidth returns the largest width at which the whole line of the bar is
// shown; the rest of the line takes 60 characters.
func barWidth(columns int) int { return min(max(columns-60, 1), 30) }

// Add adds n to the progress.
func (b *Bar) Add(n int64) {
	if b != nil {
		b.Set(b.done + n)
	}
}

// Set sets the progress.
func (b *Bar) Set(n int64) {
	if b != nil {
		b.done = n
		b.show(b.done, b.total)
	}
}

// Grow changes the total.
func (b *Bar) Grow(total int64) {
	if b != nil {
		b.total = total
		b.show(b.done, b.total)
	}
}

// Remove removes the bar from the terminal.
func (b *Bar) Remove() {
	if b != nil {
		b.remove()
	}
}
