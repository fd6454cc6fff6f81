package profile

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Flame is a flame graph: who called whom, and how long each took, with what it called.
type Flame struct {
	title  string
	figure func(float64) string
	root   *flameNode
	calls  map[flameCall]*flameNode
	diff   bool // color by the change
}

// flameCall is a function that a node calls.
type flameCall struct {
	by   *flameNode
	name string
}

// flameNode is a function, as called by the one above it.
type flameNode struct {
	name  string
	color string // a class of the style sheet
	// total is the time of the function with all that it called, before what it was in the base
	// of a comparison.
	total, before int64
	// called is the first function that it called, and next is another one of its caller.
	called, next *flameNode
}

func (n *flameNode) add(before, now int64) {
	n.before += before
	n.total += now
}

// call returns the node of a function that a node calls.
func (f *Flame) call(n *flameNode, name, color string) *flameNode {
	key := flameCall{n, name}
	called := f.calls[key]
	if called == nil {
		called = &flameNode{name: name, color: color, next: n.called}
		f.calls[key], n.called = called, called
	}
	return called
}

// Flame returns the flame graph of all samples: by kind, by thread, and then by functions.
func (p *Profile) Flame() *Flame {
	f := newFlame(p.Title(), unit.NS)
	keys, took := sumBy(p, ofThread)
	for _, k := range keys {
		f.Add(k.kind.String(), k.thread, k.stack, 0, int64(took[k]))
	}
	return f
}

// NewFlameDiff returns an empty flame graph of what changed, which is as wide as it is now, and
// colored by how much more or less it was before. Figure formats a value.
func NewFlameDiff(title string, figure func(float64) string) *Flame {
	f := newFlame(title, figure)
	f.diff = true
	return f
}

func newFlame(title string, figure func(float64) string) *Flame {
	return &Flame{title: title, figure: figure, root: &flameNode{name: "all", color: "thread"}, calls: map[flameCall]*flameNode{}}
}

// Add adds a stack of a thread, of a kind of values: what it was before, and is now.
func (f *Flame) Add(kind, thread string, s *Stack, before, now int64) {
	n := f.root
	n.add(before, now)
	for _, name := range []string{kind, thread} {
		if name != "" {
			n = f.call(n, name, "thread")
			n.add(before, now)
		}
	}
	for _, l := range slices.Backward(s.Locations) {
		for _, frame := range slices.Backward(l.Frames) {
			n = f.call(n, l.Name(frame.Func), l.flameColor(kind))
			n.add(before, now)
		}
	}
}

func (l *Location) flameColor(kind string) string {
	switch {
	case l.Kernel:
		return "kernel"
	case kind == CPU.String():
		return "cpu"
	}
	return "off"
}

// The size of the picture, in pixels.
const (
	flameWidth  = 1200
	flameRow    = 17
	flameTop    = 48
	flameMargin = 10
	// flameLeast is the width of what is left out; of more than flameMost functions it is that
	// of more.
	flameLeast = 0.2
	flameMost  = 100_000
	// flameName is how many letters of a name are told.
	flameName = 500
	// flameLetter is the width of a letter of the font, at its size of 12.
	flameLetter = 7.2
)

//go:embed flame.css
var flameStyle string

//go:embed flame.js
var flameScript string

// WriteSVG writes the graph as a picture that needs nothing else. A browser zooms into the
// function that is clicked, and marks those that a search finds.
func (f *Flame) WriteSVG(w io.Writer) error {
	boxes := f.layout()
	depth := 0
	for _, b := range boxes {
		depth = max(depth, b.depth)
	}
	height := flameTop + (depth+2)*flameRow
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="monospace" font-size="12">`+"\n", flameWidth, height, flameWidth, height)
	fmt.Fprintf(out, "<style>%s</style>\n", flameStyle)
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" class="ground"/><text x="%d" y="20" class="title">%s</text>`+"\n", flameMargin, xmlText(f.title))
	fmt.Fprintf(out, `<text id="reset" x="%d" y="38" class="button">reset zoom</text><text id="search" x="%d" y="38" class="button">search</text><text id="told" x="%d" y="38"> </text>`+"\n", flameMargin, flameMargin+90, flameMargin+150)
	if f.diff {
		fmt.Fprintf(out, `<text x="%d" y="38" text-anchor="end">red: more than in the base, blue: less</text>`+"\n", flameWidth-flameMargin)
	}
	for _, b := range boxes {
		b.write(out, height-flameRow*(b.depth+2), f)
	}
	fmt.Fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flameScript)
	return out.Flush()
}

// WriteHTML writes a page with the picture.
func (f *Flame) WriteHTML(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>%s</title>\n<style>body{margin:0}svg{width:100%%;height:auto}</style>\n", xmlText(f.title)); err != nil {
		return err
	}
	return f.WriteSVG(w)
}

// flameBox is a function in the picture.
type flameBox struct {
	*flameNode
	x, width float64
	depth    int
}

// layout places what is wide enough to be seen, the functions of one caller by their names.
func (f *Flame) layout() []flameBox {
	if f.root.total <= 0 {
		return nil
	}
	for least := flameLeast; ; least *= 2 {
		if boxes := f.layoutFrom(least); len(boxes) <= flameMost {
			return boxes
		}
	}
}

// layoutFrom places what has a width at least. It ends where there is too much.
func (f *Flame) layoutFrom(least float64) (boxes []flameBox) {
	scale := float64(flameWidth-2*flameMargin) / float64(f.root.total)
	var place func(n *flameNode, x float64, depth int)
	place = func(n *flameNode, x float64, depth int) {
		width := float64(n.total) * scale
		if width < least || len(boxes) > flameMost {
			return
		}
		boxes = append(boxes, flameBox{n, x, width, depth})
		var calls []*flameNode
		for c := n.called; c != nil; c = c.next {
			calls = append(calls, c)
		}
		slices.SortFunc(calls, func(a, b *flameNode) int { return cmp.Compare(a.name, b.name) })
		for _, c := range calls {
			place(c, x, depth+1)
			x += float64(c.total) * scale
		}
	}
	place(f.root, flameMargin, 0)
	return boxes
}

func (b *flameBox) write(out io.Writer, y int, f *Flame) {
	name := escape.Clip(b.name, flameName)
	style, told := "", fmt.Sprintf("%s: %s, %s", name, f.figure(float64(b.total)), unit.Share(float64(b.total)/float64(f.root.total)))
	if f.diff {
		style, told = b.diffStyle(f, told)
	}
	fmt.Fprintf(out, `<g class="f %s" data-n="%s"><title>%s</title><rect x="%.2f" y="%d" width="%.2f" height="%d" rx="1"%s/><text x="%.2f" y="%d">%s</text></g>`+"\n",
		b.color, xmlText(name), xmlText(told), b.x, y, b.width, flameRow-1, style, b.x+3, y+12, xmlText(fit(name, b.width)))
}

// diffStyle returns a color from grey, for no change, to red for more or blue for less, and what
// to say. A quarter of the whole has the full color.
func (b *flameBox) diffStyle(f *Flame, told string) (style, says string) {
	change := float64(b.total - b.before)
	share := min(math.Abs(change)/float64(max(f.root.total, f.root.before, 1))*4, 1)
	unchanged, full := [3]float64{228, 228, 222}, [3]float64{236, 80, 66}
	if change < 0 {
		full = [3]float64{86, 128, 232}
	}
	var color [3]int
	for i := range color {
		color[i] = int(unchanged[i] + (full[i]-unchanged[i])*share)
	}
	return fmt.Sprintf(` style="fill:rgb(%d,%d,%d)"`, color[0], color[1], color[2]), told + ", " + Signed(change, f.figure)
}

// fit returns as much of a name as a width has room for.
func fit(name string, width float64) string {
	room := int((width - 6) / flameLetter)
	letters := []rune(name)
	switch {
	case room < 3:
		return ""
	case len(letters) <= room:
		return name
	}
	return string(letters[:room-2]) + ".."
}

// Signed formats a change with its sign.
func Signed(change float64, figure func(float64) string) string {
	switch {
	case change < 0:
		return "−" + figure(-change)
	case change == 0:
		return "unchanged"
	}
	return "+" + figure(change)
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
