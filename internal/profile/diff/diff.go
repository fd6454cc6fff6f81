// Package diff compares two profiles in the format of pprof: what takes more than before.
package diff

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/profile"
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

// stack is a sample of one side.
type stack struct {
	*profile.Stack
	thread string
	side   int
	values []int64 // scaled, in the order of the kinds
}

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
	return unit.Format(v, k.Unit)
}

// Compare compares two profiles.
func (o Options) Compare(base, head *Profile) (*Diff, error) {
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
	for side, p := range []*pprof.Profile{d.base, d.head} {
		for _, s := range p.Sample {
			d.sum(side, s)
		}
	}
	for i := range d.Kinds {
		k := &d.Kinds[i]
		k.Factor = 1
		switch {
		case d.Scale == "duration":
			k.Factor = float64(d.Head.Duration) / float64(d.Base.Duration)
		case d.Scale == "total" && k.Total.Base != 0:
			k.Factor = float64(k.Total.Head) / float64(k.Total.Base)
		}
		k.Total.Base = k.scaled(k.Total.Base)
	}
	d.read()
	for i := range d.Kinds {
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

// sum adds a sample to the totals.
func (d *Diff) sum(side int, s *pprof.Sample) {
	for i := range d.Kinds {
		k := &d.Kinds[i]
		if v := s.Value[k.column[side]]; side == 0 {
			k.Total.Base += v
		} else {
			k.Total.Head += v
		}
	}
}

// read converts the samples.
func (d *Diff) read() {
	for side, p := range []*pprof.Profile{d.base, d.head} {
		locations := map[*pprof.Location]*profile.Location{}
		for _, s := range p.Sample {
			out := stack{Stack: &profile.Stack{}, thread: label(s, "thread"), side: side}
			for i := range d.Kinds {
				k := &d.Kinds[i]
				v := s.Value[k.column[side]]
				if side == 0 {
					v = k.scaled(v)
				}
				out.values = append(out.values, v)
			}
			for _, l := range s.Location {
				if locations[l] == nil {
					locations[l] = location(l)
				}
				out.Locations = append(out.Locations, locations[l])
			}
			d.stacks = append(d.stacks, out)
		}
	}
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
	type key struct{ name, in string }
	sums := map[key]*Function{}
	at := func(name, in, module string) *Function {
		f := sums[key{name, in}]
		if f == nil {
			f = &Function{Name: name, In: in}
			sums[key{name, in}] = f
		}
		f.Module = module // of the head, which comes last
		return f
	}
	for _, s := range d.stacks {
		value := s.values[kind]
		if value == 0 {
			continue
		}
		if d.Kinds[kind].Waits {
			if w := s.Wait(); !w.Idle {
				at(w.Name, w.In, s.own(w.Name)).Self.add(s.side, value)
			}
			continue
		}
		seen := map[string]bool{}
		for _, l := range s.Locations {
			for _, frame := range l.Frames {
				name := l.Name(frame.Func)
				f := at(name, "", l.Base())
				if len(seen) == 0 {
					f.Self.add(s.side, value)
				}
				if !seen[name] {
					f.Total.add(s.side, value)
				}
				seen[name] = true
			}
		}
	}
	changed := []Function{}
	for _, f := range sums {
		if f.Self.By() != 0 || f.Total.By() != 0 {
			changed = append(changed, *f)
		}
	}
	slices.SortFunc(changed, func(a, b Function) int {
		return cmp.Or(cmp.Compare(abs(b.Self.By()), abs(a.Self.By())), cmp.Compare(abs(b.Total.By()), abs(a.Total.By())), cmp.Compare(a.Name, b.Name), cmp.Compare(a.In, b.In))
	})
	return changed
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
