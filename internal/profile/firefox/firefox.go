// Package firefox writes profiles for the Firefox Profiler, profiler.firefox.com.
//
// The format is version 66 of its processed profiles, as src/types/profile.ts of
// github.com/firefox-devtools/profiler describes it: newer viewers upgrade it step by step,
// and refuse what is newer than themselves.
package firefox

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/symbol"
)

// version is that of the processed format.
const version = 66

// File is a profile as it is written.
type File struct {
	Meta    meta     `json:"meta"`
	Libs    []lib    `json:"libs"`
	Pages   []any    `json:"pages"`
	Shared  shared   `json:"shared"`
	Threads []thread `json:"threads"`
}

// Options say what a file has beside the profile.
type Options struct {
	// Source returns the text of a source file that a binary names, to show it beside the
	// samples. It may be nil.
	Source func(o symbol.Origin, path string) (text string, ok bool)
}

// Write writes a profile, compressed by gzip.
func Write(w io.Writer, p *profile.Profile, o Options) error {
	out := gzip.NewWriter(w)
	if err := json.NewEncoder(out).Encode(Convert(p, o)); err != nil {
		return fmt.Errorf("write the profile for Firefox: %w", err)
	}
	return out.Close()
}

// ReadSource returns the text of a source file of at most 1 MiB that whoever names it may read.
func ReadSource(o symbol.Origin, path string) (string, bool) {
	const most = 1 << 20
	f, err := o.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	// Files of proc and tracefs that make their reader wait have no size.
	if err != nil || info.Size() == 0 || info.Size() > most {
		return "", false
	}
	text, err := io.ReadAll(io.LimitReader(f, info.Size()))
	return string(text), err == nil
}

// The categories of frames, by their place in the list. The viewer hides those of a
// category named Idle, so no category is.
const (
	other = iota
	user
	kernel
	offCPU
)

var categories = []category{
	{"Other", "grey", []string{"Other"}},
	{"User", "yellow", []string{"Other"}},
	{"Kernel", "orange", []string{"Other"}},
	{"Off-CPU", "blue", []string{"Other", "Preempted"}},
}

// Convert returns the file of a profile.
func Convert(p *profile.Profile, o Options) *File {
	c := &converter{
		file: &File{Libs: []lib{}, Pages: []any{}}, source: o.Source,
		strings: map[string]int{}, frames: map[frameKey]int{}, stacks: map[stackKey]int{}, places: map[placeKey]int{},
		functions: map[functionKey]int{}, resources: map[string]int{}, symbols: map[symbolKey]int{}, sources: map[source]int{}, texts: map[sourceKey]string{}, left: maxText,
	}
	c.file.Shared.init()
	byThread := map[*profile.Thread][]profile.Sample{}
	for _, s := range p.Samples {
		byThread[s.Thread] = append(byThread[s.Thread], s)
	}
	firstOf := map[uint32]bool{}
	for _, t := range p.Threads {
		c.file.Threads = append(c.file.Threads, c.thread(t, byThread[t], !firstOf[t.PID], p.Duration))
		firstOf[t.PID] = true
	}
	c.file.Meta = metaOf(p)
	return c.file
}

func metaOf(p *profile.Profile) meta {
	interval := 1000 / float64(max(p.Frequency, 1))
	start := milliseconds(time.Duration(p.Start.UnixNano()))
	return meta{
		Interval: interval, StartTime: start, EndTime: start + milliseconds(p.Duration), ProfilingStart: 0, ProfilingEnd: milliseconds(p.Duration),
		Product: p.Title(), Stackwalk: 1, Version: 30, Processed: version, Platform: "Linux", OSCPU: "Linux " + p.Kernel, CPU: p.CPU,
		LogicalCPUs: runtime.NumCPU(), Symbolicated: true, NotOnSearchfox: true, Categories: categories, MarkerSchema: schemas,
		SampleUnits:  sampleUnits{"ms", "ms", "ns"},
		ImportedFrom: "ebpf-bench",
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

// converter fills the tables that all threads share. The maps hold the places of what is in
// them.
type converter struct {
	file      *File
	source    func(symbol.Origin, string) (string, bool)
	strings   map[string]int
	frames    map[frameKey]int
	stacks    map[stackKey]int
	places    map[placeKey]int
	functions map[functionKey]int
	resources map[string]int
	symbols   map[symbolKey]int
	sources   map[source]int
	texts     map[sourceKey]string // empty if a file is not shown
	left      int                  // of maxText
}

// maxText bounds the text of all source files of a profile, in bytes.
const maxText = 64 << 20

type (
	frameKey struct {
		at       *profile.Location
		depth    int
		category int
	}
	stackKey struct{ frame, parent int }
	placeKey struct {
		stack  *profile.Stack
		offCPU bool
	}
	functionKey struct {
		name, file string
		resource   int
	}
	sourceKey struct {
		path   string
		origin symbol.Origin
	}
	source    struct{ path, text string }
	symbolKey struct {
		name  string
		start uint64
		lib   int
	}
)

func (c *converter) thread(t *profile.Thread, samples []profile.Sample, main bool, end time.Duration) thread {
	out := thread{
		ProcessType: "default", ProcessName: t.Process, Name: t.Name, IsMain: main, PID: strconv.Itoa(int(t.PID)), TID: t.TID,
		PausedRanges: []any{}, ShowMarkers: true, Unregister: milliseconds(end),
		Samples: samplesTable{Stack: []*int{}, Time: []float64{}, Weight: []float64{}, WeightType: "tracing-ms"},
		Markers: markersTable{Data: []any{}, Name: []int{}, Start: []float64{}, End: []*float64{}, Phase: []int{}, Category: []int{}},
	}
	// A sample is shown from where it starts to the next one.
	slices.SortStableFunc(samples, func(a, b profile.Sample) int { return cmp.Compare(start(a), start(b)) })
	for _, s := range samples {
		switch s.Kind {
		case profile.CPU, profile.OffCPU:
			out.Samples.add(c.stack(s), milliseconds(start(s)), milliseconds(s.Took))
		default:
			c.marker(&out.Markers, s)
		}
	}
	return out
}

func start(s profile.Sample) time.Duration { return max(s.Time-s.Took, 0) }

// stack returns the place of the stack of a sample.
func (c *converter) stack(s profile.Sample) int {
	key := placeKey{s.Stack, s.Kind == profile.OffCPU}
	at, known := c.places[key]
	if !known {
		at = c.place(key)
		c.places[key] = at
	}
	return at
}

// place returns the place of a stack, which is that of its innermost frame under its callers.
func (c *converter) place(s placeKey) int {
	table, parent := &c.file.Shared.Stacks, -1
	for _, l := range slices.Backward(s.stack.Locations) {
		for depth := range l.Frames {
			frame := c.frame(l, depth, categoryOf(l, s.offCPU))
			key := stackKey{frame, parent}
			at, ok := c.stacks[key]
			if !ok {
				at = table.Length
				offset := 0 // a root
				if parent >= 0 {
					offset = at - parent
				}
				table.Frame, table.PrefixOffset = append(table.Frame, frame), append(table.PrefixOffset, offset)
				table.Length++
				c.stacks[key] = at
			}
			parent = at
		}
	}
	return parent
}

func categoryOf(l *profile.Location, waits bool) int {
	switch {
	case waits:
		return offCPU
	case l.Kernel:
		return kernel
	}
	return user
}

// frame returns the place of a frame of a location. The outermost, to which the others were
// inlined, is of depth 0.
func (c *converter) frame(l *profile.Location, depth, category int) int {
	key := frameKey{l, depth, category}
	if at, ok := c.frames[key]; ok {
		return at
	}
	f := l.Frames[len(l.Frames)-1-depth]
	t := &c.file.Shared.Frames
	resource := c.resource(l)
	t.Address = append(t.Address, int64(l.Address))
	t.InlineDepth = append(t.InlineDepth, depth)
	t.Category = append(t.Category, category)
	t.Subcategory = append(t.Subcategory, 0)
	t.Func = append(t.Func, c.function(l, f, resource))
	t.NativeSymbol = append(t.NativeSymbol, c.symbol(l, resource))
	t.InnerWindow = append(t.InnerWindow, 0)
	t.Line = append(t.Line, number(f.Line))
	t.Column = append(t.Column, nil)
	t.Original = append(t.Original, nil)
	t.Length++
	c.frames[key] = t.Length - 1
	return t.Length - 1
}

// number returns nil for 0, which means that it is not known.
func number(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func nameOf(l *profile.Location, f symbol.Frame) string {
	if f.Func == "" {
		return fmt.Sprintf("0x%x", l.Address)
	}
	return f.Func
}

func (c *converter) function(l *profile.Location, f symbol.Frame, resource int) int {
	key := functionKey{nameOf(l, f), f.File, resource}
	t := &c.file.Shared.Funcs
	if at, ok := c.functions[key]; ok {
		// A user may read what the one before may not.
		if s := t.Source[at]; s != nil && c.file.Shared.Sources.Content[*s] == nil {
			t.Source[at] = c.sourceFile(l.Origin, f.File)
		}
		return at
	}
	t.Name = append(t.Name, c.text(key.name))
	t.IsJS, t.RelevantForJS = append(t.IsJS, false), append(t.RelevantForJS, false)
	t.Resource = append(t.Resource, resource)
	t.Source = append(t.Source, c.sourceFile(l.Origin, f.File))
	t.Line, t.Column, t.Original = append(t.Line, nil), append(t.Column, nil), append(t.Original, nil)
	t.Length++
	c.functions[key] = t.Length - 1
	return t.Length - 1
}

// resource returns the place of a module; its library has the same.
func (c *converter) resource(l *profile.Location) int {
	if at, ok := c.resources[l.Module]; ok {
		return at
	}
	base := l.Base()
	t := &c.file.Shared.Resources
	const ofLibrary = 1
	t.Type = append(t.Type, ofLibrary)
	t.Lib = append(t.Lib, len(c.file.Libs))
	t.Name = append(t.Name, c.text(base))
	t.Host = append(t.Host, nil)
	t.Length++
	library := lib{Arch: runtime.GOARCH, Name: base, Path: l.Module, DebugName: base, DebugPath: l.Module, BreakpadID: BreakpadID(l.BuildID)}
	if l.BuildID != "" {
		library.CodeID = &l.BuildID
	}
	c.file.Libs = append(c.file.Libs, library)
	c.resources[l.Module] = t.Length - 1
	return t.Length - 1
}

// BreakpadID returns the identifier that Breakpad makes of an ELF build ID: its first 16
// bytes as a GUID, and an age of 0.
func BreakpadID(buildID string) string {
	const hexDigits = 32
	id := (buildID + "00000000000000000000000000000000")[:hexDigits]
	swap := func(s string) (out string) { // of little-endian numbers
		for i := len(s) - 2; i >= 0; i -= 2 {
			out += s[i : i+2]
		}
		return out
	}
	return strings.ToUpper(swap(id[:8])+swap(id[8:12])+swap(id[12:16])+id[16:]) + "0"
}

func (c *converter) symbol(l *profile.Location, resource int) int {
	outer := l.Frames[len(l.Frames)-1]
	key := symbolKey{nameOf(l, outer), l.Start, resource}
	if at, ok := c.symbols[key]; ok {
		return at
	}
	t := &c.file.Shared.Symbols
	t.Lib = append(t.Lib, c.file.Shared.Resources.Lib[resource])
	// The assembly view asks for the code from here on.
	start, size := int64(l.Address), (*int64)(nil)
	if n := int64(l.End - l.Start); n > 0 {
		start, size = int64(l.Start), &n
	}
	t.Address, t.Size = append(t.Address, start), append(t.Size, size)
	t.Name = append(t.Name, c.text(key.name))
	t.Length++
	c.symbols[key] = t.Length - 1
	return t.Length - 1
}

// sourceFile returns the place of a source file with its text, if there is one.
func (c *converter) sourceFile(o symbol.Origin, path string) *int {
	if path == "" {
		return nil
	}
	key := source{path, c.content(sourceKey{path, o})}
	at, ok := c.sources[key]
	if !ok {
		t := &c.file.Shared.Sources
		at = t.Length
		t.ID, t.Filename = append(t.ID, nil), append(t.Filename, c.text(path))
		t.StartLine, t.StartColumn, t.SourceMap = append(t.StartLine, 1), append(t.StartColumn, 1), append(t.SourceMap, nil)
		var text *string
		if key.text != "" {
			text = &key.text
		}
		t.Content = append(t.Content, text)
		t.Length++
		c.sources[key] = at
	}
	return &at
}

// content returns the text of a source file, empty if it is not shown.
func (c *converter) content(key sourceKey) string {
	text, tried := c.texts[key]
	if tried || c.source == nil {
		return text
	}
	text, ok := c.source(key.origin, key.path)
	if !ok || len(text) > c.left {
		text = ""
	}
	c.left -= len(text)
	c.texts[key] = text
	return text
}

func (c *converter) text(s string) int {
	at, ok := c.strings[s]
	if !ok {
		at = len(c.file.Shared.Strings)
		c.file.Shared.Strings = append(c.file.Shared.Strings, s)
		c.strings[s] = at
	}
	return at
}
