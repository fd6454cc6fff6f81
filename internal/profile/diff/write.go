package diff

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"

	pprof "github.com/google/pprof/profile"

	"github.com/org/ebpf-bench-action/internal/profile"
)

// WritePprof writes the change as pprof reads it, compressed: the head, and the base with
// negative values and the label that pprof -diff_base gives them.
func (d *Diff) WritePprof(w io.Writer) error {
	base, head := d.base.Copy(), d.head.Copy()
	for side, p := range []*pprof.Profile{base, head} {
		for _, s := range p.Sample {
			values := make([]int64, len(d.Kinds))
			for i := range d.Kinds {
				values[i] = s.Value[d.Kinds[i].column[side]]
				if side == 0 {
					values[i] = -d.Kinds[i].scaled(values[i])
				}
			}
			s.Value = values
		}
		p.SampleType = nil
		for _, k := range d.Kinds {
			p.SampleType = append(p.SampleType, &pprof.ValueType{Type: k.Sample, Unit: k.Unit})
		}
		p.PeriodType, p.Period, p.DefaultSampleType = d.head.PeriodType, d.head.Period, d.Kinds[0].Sample
	}
	base.SetLabel("pprof::base", []string{"true"})
	out, err := pprof.Merge([]*pprof.Profile{head, base})
	if err != nil {
		return fmt.Errorf("write pprof: %w", err)
	}
	out.DurationNanos = d.head.DurationNanos
	return out.Write(w)
}

// WriteFolded writes a line for each stack, with its values in the base and in the head, as
// difffolded.pl does. Times are in microseconds.
func (d *Diff) WriteFolded(w io.Writer) error {
	sums := map[string]*Change{}
	for _, s := range d.stacks {
		for i, value := range s.values {
			if value == 0 {
				continue
			}
			name := s.Folded(d.Kinds[i].Sample, s.thread)
			if sums[name] == nil {
				sums[name] = &Change{}
			}
			sums[name].add(s.side, value)
		}
	}
	divisor := int64(1)
	if d.Kinds[0].Unit == "nanoseconds" {
		divisor = 1000
	}
	out := bufio.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if base, head := sums[name].Base/divisor, sums[name].Head/divisor; base != 0 || head != 0 {
			fmt.Fprintf(out, "%s %d %d\n", name, base, head)
		}
	}
	return out.Flush()
}

// Flame returns the flame graph of the head, colored by the change.
func (d *Diff) Flame() *profile.Flame {
	f := profile.NewFlameDiff(fmt.Sprintf("%s compared with %s", d.Head.Name, d.Base.Name), d.Kinds[0].Format)
	for _, s := range d.stacks {
		for i, value := range s.values {
			if value == 0 {
				continue
			}
			var c Change
			c.add(s.side, value)
			f.Add(d.Kinds[i].Sample, s.thread, s.Stack, c.Base, c.Head)
		}
	}
	return f
}
