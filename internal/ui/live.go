package ui

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// live is the block of progress lines below all other lines of a terminal. It
// is redrawn when one changes, and moves out of the way of messages. Anything but
// a terminal gets the messages alone.
type live struct {
	w        io.Writer
	terminal bool

	mu    sync.Mutex
	lines []*Line
	drawn int // how many of them the terminal shows
}

// say prints lines that stay.
func (l *live) say(lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terminal {
		l.draw(lines)
	} else {
		fmt.Fprint(l.w, lines)
	}
}

// draw replaces the shown block by lines that stay, and the block below them.
func (l *live) draw(above string) {
	var b strings.Builder
	if l.drawn > 0 {
		b.WriteString("\x1b[2K\r" + strings.Repeat("\x1b[1A\x1b[2K", l.drawn-1))
	}
	b.WriteString(above)
	// A wrapped line could not be overwritten.
	columns := Width(l.w) - 1
	l.drawn = 0
	for _, line := range l.lines {
		if line.text == "" {
			continue
		}
		if l.drawn > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(text.Snip(line.text, columns, "…"))
		l.drawn++
	}
	_, _ = io.WriteString(l.w, b.String())
}

// add adds a line, which is shown once it has a text.
func (l *live) add() *Line {
	line := &Line{all: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return line
}

// Line is a progress line. Its text is set, or written by a bar.
type Line struct {
	all  *live
	text string
}

// Set changes the text of the line.
func (l *Line) Set(text string) {
	if !l.all.terminal {
		return
	}
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	if l.text != text {
		l.text = text
		l.all.draw("")
	}
}

// Write takes a line that a bar draws over the one before.
func (l *Line) Write(p []byte) (int, error) {
	if text := strings.Trim(strings.ReplaceAll(string(p), "\x1b[2K", ""), "\r\n"); text != "" {
		l.Set(text)
	}
	return len(p), nil
}

// Remove removes the line from the terminal for good.
func (l *Line) Remove() {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	for i, line := range l.all.lines {
		if line == l {
			l.all.lines = append(l.all.lines[:i:i], l.all.lines[i+1:]...)
			if l.all.terminal {
				l.all.draw("")
			}
			return
		}
	}
}

// Width returns how many columns a terminal has, or 80 if w is not a terminal.
func Width(w io.Writer) int {
	const usual = 80
	f, ok := w.(*os.File)
	if !ok {
		return usual
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns < 1 {
		return usual
	}
	return columns
}
