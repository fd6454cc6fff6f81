package profile

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"
)

// WritePprof writes the profile as pprof reads it, compressed: a type of values for each
// kind, in nanoseconds, after the number of samples.
func (p *Profile) WritePprof(w io.Writer) error {
	out := &pprof.Profile{
		TimeNanos: p.Start.UnixNano(), DurationNanos: int64(p.Duration),
		PeriodType: &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: int64(1e9) / int64(max(p.Frequency, 1)),
		SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}},
	}
	column := map[Kind]int{}
	for kind := range Kinds {
		if _, ok := p.Sources[kind]; ok {
			column[kind] = len(out.SampleType)
			out.SampleType = append(out.SampleType, &pprof.ValueType{Type: kind.String(), Unit: "nanoseconds"})
		}
	}
	out.DefaultSampleType = out.SampleType[min(1, len(out.SampleType)-1)].Type
	b := pprofBuilder{out: out, locations: map[*Location]*pprof.Location{}, functions: map[pprofFunction]*pprof.Function{}, mappings: map[string]*pprof.Mapping{}}
	type key struct {
		stack  *Stack
		thread *Thread
	}
	samples := map[key]*pprof.Sample{}
	for _, s := range p.Samples {
		sample := samples[key{s.Stack, s.Thread}]
		if sample == nil {
			sample = &pprof.Sample{
				Value: make([]int64, len(out.SampleType)), Location: b.stack(s.Stack),
				Label:    map[string][]string{"thread": {s.Thread.Name}, "process": {s.Thread.Process}},
				NumLabel: map[string][]int64{"pid": {int64(s.Thread.PID)}, "tid": {int64(s.Thread.TID)}},
			}
			samples[key{s.Stack, s.Thread}] = sample
			out.Sample = append(out.Sample, sample)
		}
		sample.Value[0]++
		sample.Value[column[s.Kind]] += int64(s.Took)
	}
	// The first one names the whole profile.
	slices.SortStableFunc(out.Mapping, func(a, b *pprof.Mapping) int { return cmp.Compare(unfiled(a), unfiled(b)) })
	if err := out.CheckValid(); err != nil {
		return fmt.Errorf("write pprof: %w", err)
	}
	return out.Write(w)
}

// unfiled returns 1 for a mapping that is not of a file.
func unfiled(m *pprof.Mapping) int {
	if strings.HasPrefix(m.File, "[") {
		return 1
	}
	return 0
}

type pprofBuilder struct {
	out       *pprof.Profile
	locations map[*Location]*pprof.Location
	functions map[pprofFunction]*pprof.Function
	mappings  map[string]*pprof.Mapping
}

// clone is what compilers append to the names of copies of a function. pprof takes the
// text behind the last dot for the whole name.
var clone = regexp.MustCompile(`\.(isra|constprop|part|cold|lto_priv|llvm)\b.*`)

type pprofFunction struct{ name, file string }

func (b *pprofBuilder) stack(s *Stack) []*pprof.Location {
	out := make([]*pprof.Location, len(s.Locations))
	for i, l := range s.Locations {
		out[i] = b.location(l)
	}
	return out
}

func (b *pprofBuilder) location(l *Location) *pprof.Location {
	if known := b.locations[l]; known != nil {
		return known
	}
	out := &pprof.Location{ID: uint64(len(b.out.Location) + 1), Address: l.Address, Mapping: b.mapping(l)}
	for _, f := range l.Frames {
		out.Line = append(out.Line, pprof.Line{Function: b.function(l.plainName(f.Func), f.File), Line: int64(f.Line)})
	}
	b.locations[l] = out
	b.out.Location = append(b.out.Location, out)
	return out
}

func (b *pprofBuilder) function(name, file string) *pprof.Function {
	key := pprofFunction{name, file}
	if b.functions[key] == nil {
		b.functions[key] = &pprof.Function{ID: uint64(len(b.out.Function) + 1), Name: clone.ReplaceAllString(name, ""), SystemName: name, Filename: file}
		b.out.Function = append(b.out.Function, b.functions[key])
	}
	return b.functions[key]
}

func (b *pprofBuilder) mapping(l *Location) *pprof.Mapping {
	if b.mappings[l.Module] == nil {
		b.mappings[l.Module] = &pprof.Mapping{
			ID: uint64(len(b.out.Mapping) + 1), File: l.Module, BuildID: l.BuildID, Limit: ^uint64(0),
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
		}
		b.out.Mapping = append(b.out.Mapping, b.mappings[l.Module])
	}
	return b.mappings[l.Module]
}
