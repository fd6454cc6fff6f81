// Package diff compares two profiles in the format of pprof: what takes more than before.
package diff

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/escape"
	"github.com/org/ebpf-bench-action/internal/profile"
	"github.com/org/ebpf-bench-action/internal/symbol/budget"
	"github.com/org/ebpf-bench-action/internal/unit"
)

// Scales are what the values of the base can be scaled to: the duration of the head, its
// total, or nothing.
var Scales = []string{"duration", "total", "none"}

// Options say how to compare.
type Options struct {
	// Sample is the type of values; "" is all types that are times, or else the default one.
	Sample string
	// Scale is one of Scales; "" is the duration if both profiles have one, and otherwise none.
	Scale string
}

// Diff is a comparison of two profiles.
type Diff struct {
	Base Side `json:"base"`
	Head Side `json:"head"`
	// Scale is one of Scales.
	Scale string `json:"scale"`
	Kinds []Kind `json:"kinds"`

	base, head *pprof.Profile
	stacks     []stack
}

// Side is a profile that was compared.
type Side struct {
	Name     string        `json:"name"`
	Duration time.Duration `json:"duration_ns"` // 0 if it is not known
}

// Kind is the change of a type of values.
type Kind struct {
	Sample string `json:"sample"`
	Unit   string `json:"unit"`
	// Factor is what the values of the base are multiplied by.
	Factor float64 `json:"factor"`
	Total  Change  `json:"total"`
	// Waits: Functions are where threads wait, innermost in the program's own code.
	Waits bool `json:"waits"`
	// Functions are those that changed, those whose own value changed most first.
	Functions []Function `json:"functions"`

	column [2]int // in base and head
}

// Change is a value in the base, scaled, and in the head.
type Change struct {
	Base int64 `json:"base"`
	Head int64 `json:"head"`
}

// By returns the difference.
func (c Change) By() int64 { return c.Head - c.Base }

// Function is the change of a function.
type Function struct {
	Name   string `json:"name"`
	Module string `json:"module"`
	// In is what it called to wait.
	In string `json:"in,omitempty"`
	// Self is in the function; of Waits, in what it called. Total is with all that it called,
	// and is not there for Waits.
	Self  Change `json:"self"`
	Total Change `json:"total,omitzero"`
}

// stack is what the samples of a thread and a stack add up to, on one side.
type stack struct {
	*profile.Stack
	thread string
	side   int
	values []int64 // scaled, in the order of the kinds
}

// Bounds of a profile. What is written is made of each stack.
const (
	maxTypes  = 100     // of values
	maxFrames = 4096    // of a stack; those of Go and of perf have some hundreds
	maxStacks = 2 << 30 // bytes of the functions of all stacks that differ, with their names
	frameSize = 64
	maxValue  = 1 << 62 // of a total
)

// Format formats a value.
func (k *Kind) Format(v float64) string {
	switch k.Unit {
	case "nanoseconds":
		return unit.NS(v)
	case "bytes":
		return unit.Bytes(v)
	case "count":
		return unit.Count(v)
	}
	return unit.Format(v, escape.Clip(escape.Printable(k.Unit), 20))
}

// Compare compares two profiles.
func (o Options) Compare(ctx context.Context, base, head *Profile) (*Diff, error) {
	d := &Diff{Scale: o.Scale, Base: base.side(), Head: head.side(), base: base.Profile, head: head.Profile}
	known := d.Base.Duration > 0 && d.Head.Duration > 0
	switch {
	case d.Scale == "" && known:
		d.Scale = "duration"
	case d.Scale == "":
		d.Scale = "none"
	case d.Scale == "duration" && !known:
		return nil, bench.WithHint(errors.New("one of the profiles does not say how long it was recorded"), "compare with --scale total or --scale none")
	}
	if err := d.choose(o.Sample); err != nil {
		return nil, err
	}
	for i := range d.Kinds {
		k := &d.Kinds[i]
		var size [2]float64
		k.Total.Base, size[0] = sum(d.base, k.column[0])
		k.Total.Head, size[1] = sum(d.head, k.column[1])
		k.Factor = 1
		switch {
		case d.Scale == "duration":
			k.Factor = float64(d.Head.Duration) / float64(d.Base.Duration)
		case d.Scale == "total" && k.Total.Base != 0:
			k.Factor = float64(k.Total.Head) / float64(k.Total.Base)
		}
		if max(size[0], size[0]*math.Abs(k.Factor), size[1]) > maxValue {
			return nil, fmt.Errorf("the values of %s are too large: those of a profile add up to more than %d", k.Sample, int64(maxValue))
		}
		k.Total.Base = k.scaled(k.Total.Base)
	}
	if err := d.read(ctx); err != nil {
		return nil, err
	}
	for i := range d.Kinds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.Kinds[i].Functions = d.functions(i)
	}
	return d, nil
}

func (k *Kind) scaled(v int64) int64 { return int64(float64(v) * k.Factor) }

// choose sets the types of values to compare.
func (d *Diff) choose(sample string) error {
	var common []Kind
	var names []string
	for head, t := range d.head.SampleType {
		base := slices.IndexFunc(d.base.SampleType, func(b *pprof.ValueType) bool { return *b == *t })
		if base >= 0 {
			common = append(common, Kind{Sample: t.Type, Unit: t.Unit, Waits: waits(t.Type), column: [2]int{base, head}})
			names = append(names, t.Type)
		}
	}
	if len(common) == 0 {
		return bench.WithHint(errors.New("the profiles have no type of values in common"),
			fmt.Sprintf("%s has %s; %s has %s", d.Base.Name, types(d.base), d.Head.Name, types(d.head)))
	}
	for _, k := range common {
		if sample == "" && k.Unit == "nanoseconds" || sample == k.Sample {
			d.Kinds = append(d.Kinds, k)
		}
	}
	switch {
	case len(d.Kinds) > 0:
	case sample != "":
		return bench.WithHint(fmt.Errorf("the profiles have no values %q in common", sample), "both have "+strings.Join(names, ", "))
	default: // the default, or the last, as pprof does
		at := max(slices.Index(names, d.head.DefaultSampleType), 0)
		if !slices.Contains(names, d.head.DefaultSampleType) {
			at = len(common) - 1
		}
		d.Kinds = common[at : at+1]
	}
	return nil
}

// waits reports whether values are of threads that wait for something.
func waits(sample string) bool {
	kind, err := profile.ParseKind(sample)
	return err == nil && kind != profile.CPU
}

func types(p *pprof.Profile) string {
	var names []string
	for _, t := range p.SampleType {
		names = append(names, t.Type+" in "+t.Unit)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// sum returns the total of a column of values, and that of their sizes without the signs.
func sum(p *pprof.Profile, column int) (total int64, size float64) {
	for _, s := range p.Sample {
		total += s.Value[column]
		size += math.Abs(float64(s.Value[column]))
	}
	return total, size
}

// read converts the samples, and adds up those of a thread that have one stack.
func (d *Diff) read(ctx context.Context) error {
	type key struct {
		*profile.Stack
		thread string
	}
	room := budget.New(maxStacks)
	for side, p := range []*pprof.Profile{d.base, d.head} {
		c := converter{locations: map[*pprof.Location]*profile.Location{}, stacks: map[string]*profile.Stack{}}
		known := map[key]int{}
		for _, s := range p.Sample {
			if err := ctx.Err(); err != nil {
				return err
			}
			k := key{c.stack(s.Location), label(s, "thread")}
			at, ok := known[k]
			if !ok {
				at = len(d.stacks)
				known[k] = at
				d.stacks = append(d.stacks, stack{Stack: k.Stack, thread: k.thread, side: side, values: make([]int64, len(d.Kinds))})
			}
			if err := d.add(&d.stacks[at], s, room); err != nil {
				return fmt.Errorf("%s: %w", [2]string{d.Base.Name, d.Head.Name}[side], err)
			}
		}
	}
	return nil
}

// add adds a sample to those of its stack. What is written has the functions of a stack for
// each kind that it has a value of: they take of the room.
func (d *Diff) add(to *stack, s *pprof.Sample, room *budget.Budget) error {
	for i := range d.Kinds {
		k := &d.Kinds[i]
		v := s.Value[k.column[to.side]]
		if to.side == 0 {
			v = k.scaled(v)
		}
		if to.values[i] == 0 && v != 0 {
			if err := take(to.Stack, room); err != nil {
				return err
			}
		}
		to.values[i] += v
	}
	return nil
}

// take takes room for the functions of a stack.
func take(s *profile.Stack, room *budget.Budget) error {
	frames := 0
	for _, l := range s.Locations {
		if frames += len(l.Frames); frames > maxFrames {
			return fmt.Errorf("a stack has more than %d functions", maxFrames)
		}
		for _, f := range l.Frames {
			size := len(f.Func)
			if size == 0 {
				size = len(l.Module)
			}
			if !room.Take(frameSize + uint64(size)) {
				return bench.WithHint(fmt.Errorf("the functions of all stacks take more than %s of memory", unit.Bytes(maxStacks)), "compare one type of values with --sample, or record for less long")
			}
		}
	}
	return nil
}

// converter converts the stacks of a profile.
type converter struct {
	locations map[*pprof.Location]*profile.Location
	stacks    map[string]*profile.Stack // by the identifiers of their locations
	key       []byte
}

func (c *converter) stack(locations []*pprof.Location) *profile.Stack {
	c.key = c.key[:0]
	for _, l := range locations {
		c.key = binary.NativeEndian.AppendUint64(c.key, l.ID)
	}
	if known := c.stacks[string(c.key)]; known != nil {
		return known
	}
	out := &profile.Stack{Locations: make([]*profile.Location, len(locations))}
	for i, l := range locations {
		if c.locations[l] == nil {
			c.locations[l] = location(l)
		}
		out.Locations[i] = c.locations[l]
	}
	c.stacks[string(c.key)] = out
	return out
}

func label(s *pprof.Sample, name string) string {
	if values := s.Label[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func location(l *pprof.Location) *profile.Location {
	out := &profile.Location{Module: "[unknown]", Address: l.Address}
	if l.Mapping != nil && l.Mapping.File != "" {
		out.Module = l.Mapping.File
	}
	out.Kernel = strings.HasPrefix(out.Module, "[kernel")
	for i, line := range l.Line {
		f := profile.Frame{Line: int(line.Line), Inlined: i < len(l.Line)-1}
		if line.Function != nil {
			f.Func, f.File = line.Function.Name, line.Function.Filename
		}
		out.Frames = append(out.Frames, f)
	}
	if len(out.Frames) == 0 {
		out.Frames = []profile.Frame{{}}
	}
	return out
}

// functions returns what changed in the functions.
func (d *Diff) functions(kind int) []Function {
	sums := sums{rows: map[rowKey]*row{}, at: map[*profile.Location][]*row{}}
	for i := range d.stacks {
		s := &d.stacks[i]
		value := s.values[kind]
		if value == 0 {
			continue
		}
		if d.Kinds[kind].Waits {
			if w := s.Wait(); !w.Idle {
				sums.row(w.Name, w.In, s.own(w.Name)).Self.add(s.side, value)
			}
			continue
		}
		for depth, l := range s.Locations {
			for inlined, r := range sums.of(l) {
				if depth == 0 && inlined == 0 {
					r.Self.add(s.side, value)
				}
				if r.last != s { // a function that calls itself counts once
					r.Total.add(s.side, value)
					r.last = s
				}
			}
		}
	}
	changed := []Function{}
	for _, r := range sums.rows {
		if r.Self.By() != 0 || r.Total.By() != 0 {
			changed = append(changed, r.Function)
		}
	}
	slices.SortFunc(changed, func(a, b Function) int {
		return cmp.Or(cmp.Compare(abs(b.Self.By()), abs(a.Self.By())), cmp.Compare(abs(b.Total.By()), abs(a.Total.By())), cmp.Compare(a.Name, b.Name), cmp.Compare(a.In, b.In))
	})
	return changed
}

// sums are what the stacks of a kind add up to.
type sums struct {
	rows map[rowKey]*row
	at   map[*profile.Location][]*row
}

type rowKey struct{ name, in string }

// row is a function, and the last stack that it was in.
type row struct {
	Function
	last *stack
}

func (s *sums) row(name, in, module string) *row {
	r := s.rows[rowKey{name, in}]
	if r == nil {
		r = &row{Function: Function{Name: name, In: in}}
		s.rows[rowKey{name, in}] = r
	}
	r.Module = module // of the head, which comes last
	return r
}

// of returns the rows of the functions at a location, innermost first.
func (s *sums) of(l *profile.Location) []*row {
	if rows := s.at[l]; rows != nil {
		return rows
	}
	rows := make([]*row, len(l.Frames))
	for i, f := range l.Frames {
		rows[i] = s.row(l.Name(f.Func), "", l.Base())
	}
	s.at[l] = rows
	return rows
}

// own returns the module of a function of the stack.
func (s *stack) own(name string) string {
	for _, l := range s.Locations {
		for _, f := range l.Frames {
			if l.Name(f.Func) == name {
				return l.Base()
			}
		}
	}
	return ""
}

func (c *Change) add(side int, value int64) {
	if side == 0 {
		c.Base += value
	} else {
		c.Head += value
	}
}

func abs(n int64) int64 { return max(n, -n) }
