package explain

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/report"
)

// Pprof writes an explanation as a profile of pprof:
//
//	instructions_per_run  BPF instructions, the mean of a run, rounded
//	instructions          BPF instructions of all the runs that were counted
//
// Each sample is a line, or an instruction if these were requested, with the
// benchmark and the kernel as labels. Its address is the position of the
// instruction in the program, in bytes. pprof adds up the benchmarks, unless
// one is selected (-tagfocus=benchmark=NAME). With two sides the profile is
// their difference, as with pprof -diff_base: the base's samples are negative
// and labelled so.
func Pprof(w io.Writer, m *Model) error {
	b := pprofBuilder{
		m: m,
		p: &profile.Profile{
			SampleType:        []*profile.ValueType{{Type: "instructions_per_run", Unit: "count"}, {Type: "instructions", Unit: "count"}},
			DefaultSampleType: "instructions_per_run",
		},
		functions: map[[2]string]*profile.Function{}, mappings: map[[2]string]*profile.Mapping{}, locations: map[pprofPlace]*profile.Location{},
	}
	programs := m.programs()
	for _, t := range m.Tables {
		b.p.Comments = append(b.p.Comments, "Linux "+t.Testbed.Kernel)
		if n := t.Started.UnixNano(); t.Started.Year() > 1970 && (b.p.TimeNanos == 0 || n < b.p.TimeNanos) {
			b.p.TimeNanos = n
		}
	}
	for i := range programs {
		p := &programs[i]
		for j := range p.Lines {
			l := &p.Lines[j]
			if p.Base != nil && l.Base != nil && p.Head != nil {
				b.add(p, p.Base, l, l.Base, true)
			}
			if e := p.of(l); e != nil && p.side() != nil {
				b.add(p, p.side(), l, e, false)
			}
		}
	}
	if err := b.p.CheckValid(); err != nil {
		return fmt.Errorf("make a profile: %w", err)
	}
	return b.p.Write(w)
}

// pprofPlace is the place of samples.
type pprofPlace struct {
	mapping *profile.Mapping
	offset  int
	base    bool
	file    string
	line    int
}

type pprofBuilder struct {
	m         *Model
	p         *profile.Profile
	functions map[[2]string]*profile.Function
	mappings  map[[2]string]*profile.Mapping
	locations map[pprofPlace]*profile.Location
}

// add adds what a side executes of a line.
func (b *pprofBuilder) add(p *program, s *bench.ExplainedSide, l *bench.Line, e *bench.Executed, base bool) {
	if len(e.Code) == 0 {
		b.sample(p, s, l, l.Offset, e.PerRun, e.PerRun*float64(s.Runs), base)
		return
	}
	// Add the rounding error of one instruction to the next, so that lines add
	// up.
	sum := 0.0
	for i := range e.Code {
		before := math.Round(sum)
		sum += e.Code[i].PerRun
		b.sample(p, s, l, e.Code[i].Offset, math.Round(sum)-before, e.Code[i].PerRun*float64(s.Runs), base)
	}
}

func (b *pprofBuilder) sample(p *program, s *bench.ExplainedSide, l *bench.Line, offset int, perRun, inAll float64, base bool) {
	values := []int64{whole(perRun), whole(inAll)}
	labels := map[string][]string{"benchmark": {valid(p.Benchmark)}}
	if len(b.m.Tables) > 1 {
		labels["kernel"] = []string{valid(report.OnKernels(p.kernels, len(b.m.Tables)))}
	}
	number := l.Number
	if base {
		values[0], values[1] = -values[0], -values[1]
		// pprof recognizes the samples of a base by this.
		labels["pprof::base"] = []string{"true"}
		if l.BaseNumber > 0 {
			number = l.BaseNumber
		}
	}
	if values[0] == 0 && values[1] == 0 {
		return
	}
	location := b.location(p, s, l, number, offset, base)
	b.p.Sample = append(b.p.Sample, &profile.Sample{Location: []*profile.Location{location}, Value: values, Label: labels})
}

func whole(v float64) int64 { return int64(math.Round(min(v, mostTimes))) }

// mappingSize is larger than any program.
const mappingSize = 1 << 24

func (b *pprofBuilder) location(p *program, s *bench.ExplainedSide, l *bench.Line, number, offset int, base bool) *profile.Location {
	program, function := l.Program, l.Function
	if base {
		program, function = p.inBase(program), p.inBase(function)
	}
	mapping := b.mapping(s.Object, program)
	// Both sides may have a program of one name, with another instruction
	// there.
	file := l.File
	if base {
		file = cmp.Or(l.BaseFile, file)
	}
	place := pprofPlace{mapping, offset, base, file, number}
	if at := b.locations[place]; at != nil {
		return at
	}
	at := &profile.Location{
		ID: uint64(len(b.p.Location) + 1), Mapping: mapping, Address: mapping.Start + uint64(offset)%(mappingSize/8)*8,
		Line: []profile.Line{{Function: b.function(file, function), Line: int64(number)}},
	}
	b.locations[place] = at
	b.p.Location = append(b.p.Location, at)
	return at
}

// mapping stands for a program. It has symbols already, so that pprof does not
// look for a file.
func (b *pprofBuilder) mapping(object, program string) *profile.Mapping {
	key := [2]string{object, program}
	if m := b.mappings[key]; m != nil {
		return m
	}
	n := uint64(len(b.p.Mapping) + 1)
	m := &profile.Mapping{
		ID: n, Start: n * mappingSize, Limit: (n + 1) * mappingSize, File: valid(object + ":" + program),
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
	b.mappings[key] = m
	b.p.Mapping = append(b.p.Mapping, m)
	return m
}

// inBase returns the name in the base of a program or function of the head.
// They differ if the base starts with another program.
func (p *program) inBase(name string) string {
	if p.two() && name == p.Head.Program {
		return p.Base.Program
	}
	return name
}

func (b *pprofBuilder) function(file, name string) *profile.Function {
	key := [2]string{file, name}
	if f := b.functions[key]; f != nil {
		return f
	}
	f := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: valid(name), SystemName: valid(name), Filename: valid(b.m.path(file))}
	b.functions[key] = f
	b.p.Function = append(b.p.Function, f)
	return f
}

// valid returns text that is valid for pprof's format, which is UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "�") }
