// Package search finds the inputs on which a program costs most, and those that reach
// all of it: it runs a copy of the program that counts on one input after the other.
package search

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/insn"
	"github.com/org/ebpf-bench-action/internal/insn/srcline"
	"github.com/org/ebpf-bench-action/internal/unit"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
	"github.com/org/ebpf-bench-action/runner/internal/count"
	"github.com/org/ebpf-bench-action/runner/internal/load"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
	"github.com/org/ebpf-bench-action/runner/internal/subject"
)

// Input is what a program is given: a run for each packet, or one if the program takes
// none. The first finds maps as the benchmark prepares them, with the entries beside.
type Input struct {
	Packets [][]byte
	// Context is that of all runs. A nil one is the default of the type.
	Context []byte
	Entries []Entry
}

// Entry is an entry of a map.
type Entry struct {
	Map string
	bpfmap.Entry
}

// Target is a loaded program that runs one input after the other, of which none finds what
// another left.
type Target struct {
	// Alive tells of each block, by program and block of the table, whether the verifier
	// found that a run may reach it. It is nil if that cannot be read.
	Alive [][]bool
	// Keys are those that runs looked up in maps, up to mostKeys of a map.
	Keys []Entry
	// Warnings say what the search has to do without.
	Warnings []string

	typ               ebpf.ProgramType
	counting, logging *form                      // logging is nil if the verifier refuses it
	known             map[string]map[string]bool // Keys
}

// mostKeys bounds how many keys of a map are tried.
const mostKeys = 64

// form is an instrumented copy of the program, with maps of its own.
type form struct {
	*subject.Subject
	typ   ebpf.ProgramType
	table *insn.Table
	meter *insn.Meter
	log   *insn.Log // nil if nothing is written down
	// maps are as they were prepared before each input; careful says that a run may
	// change entries whose keys are not written down.
	maps    *bpfmap.Snapshot
	careful bool
	retvals []uint32
}

// Open loads the programs of a job that is driven by test_run, in as many forms as it
// takes to search; it does so a fixed number of times. Linux 5.10 is the oldest kernel.
func Open(ctx context.Context, j *plan.Job) (t *Target, err error) {
	typ := j.ProgramSpec().Type
	if j.TestRun == nil || !progrun.Types[typ].TakesInput() {
		return nil, bench.WithHint(fmt.Errorf("program %s: a program of type %s is not given any input by test_run", j.Program, j.Type()),
			"there is nothing to search for: choose a load with driver: command or veth")
	}
	t = &Target{typ: typ, known: map[string]map[string]bool{}}
	defer func() {
		if err != nil {
			t.Close()
			t = nil
		}
	}()
	coll, warning, err := subject.LoadJob(j, j.Spec.Copy())
	if err != nil {
		return t, err
	}
	depths := count.StackDepths(coll)
	load.Close(coll)
	if warning != "" {
		t.Warnings = append(t.Warnings, warning)
	}
	t.counting, err = openForm(ctx, j, insn.Options{StackDepths: depths, Keys: true})
	if err != nil && ctx.Err() == nil {
		t.Warnings = append(t.Warnings, fmt.Sprintf("the search does without keys of maps: %v", err))
		t.counting, err = openForm(ctx, j, insn.Options{StackDepths: depths})
	}
	if err != nil {
		return t, fmt.Errorf("count what runs of program %s execute: %w", j.Program, err)
	}
	for _, name := range t.counting.maps.Kept {
		t.Warnings = append(t.Warnings, fmt.Sprintf("map %s cannot be reset: what earlier runs left there may change what others execute", name))
	}
	t.logging, err = openForm(ctx, j, insn.Options{StackDepths: depths, Keys: true, Operands: true})
	if err != nil && ctx.Err() == nil {
		t.Warnings = append(t.Warnings, fmt.Sprintf("the search does without the operands of jumps: %v", err))
	}
	t.Alive = alive(j, depths)
	return t, ctx.Err()
}

// openForm loads a form of the job's programs.
func openForm(ctx context.Context, j *plan.Job, o insn.Options) (f *form, err error) {
	spec := j.Spec.Copy()
	subject.ZeroSeeds(spec)
	bpfmap.ShareMemory(spec)
	f = &form{typ: j.ProgramSpec().Type}
	if f.table, err = insn.Instrument(spec, o); err != nil {
		return nil, err
	}
	if f.Subject, err = subject.Load(ctx, j, spec); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.close()
			f = nil
		}
	}()
	if f.meter, err = f.table.Meter(f.Coll); err != nil {
		return f, err
	}
	if f.Coll.Maps[insn.LogName] != nil {
		if f.log, err = f.table.Log(f.Coll); err != nil {
			return f, err
		}
	}
	f.careful = !o.Keys || f.table.MissesKeys()
	f.maps, err = bpfmap.NewSnapshot(ctx, f.Coll, insn.MapName, insn.LogName)
	return f, err
}

// alive loads the job's programs so that they show what the verifier leaves of them. It
// returns nil if they do not.
func alive(j *plan.Job, depths map[string][]int) [][]bool {
	spec := j.Spec.Copy()
	table, err := insn.Instrument(spec, insn.Options{StackDepths: depths, Alive: true})
	if err != nil {
		return nil
	}
	coll, _, err := subject.LoadJob(j, spec)
	if err != nil {
		return nil
	}
	defer load.Close(coll)
	found, err := table.Alive(coll)
	if err != nil {
		return nil
	}
	return found
}

// Run runs an input. Inputs whose runs executed each block equally often have the same
// digest.
func (t *Target) Run(ctx context.Context, in *Input) (digest uint64, err error) {
	if err := t.counting.reset(ctx); err != nil {
		return 0, err
	}
	return t.count(in)
}

// mostRestored is how many entries of a map Confirm looks at though no run should have
// touched them.
const mostRestored = 1 << 12

// Confirm is Run for an input whose count must not depend on earlier ones, whatever they
// left. It takes longer.
func (t *Target) Confirm(ctx context.Context, in *Input) (digest uint64, err error) {
	f := t.counting
	most := mostRestored
	if f.careful {
		most = math.MaxInt
	}
	if err := f.maps.RestoreAll(ctx, most); err != nil {
		return 0, err
	}
	return t.count(in)
}

func (t *Target) count(in *Input) (digest uint64, err error) {
	err = t.counting.run(in, func() {
		for s, key := range t.counting.asked() {
			t.learn(s.Map, key)
		}
	})
	if err != nil {
		return 0, err
	}
	return t.counting.meter.Read()
}

// learn notes a key that a run asked a map for.
func (t *Target) learn(name string, key []byte) {
	known := t.known[name]
	if known == nil {
		known = map[string]bool{}
		t.known[name] = known
	}
	if len(known) >= mostKeys || known[string(key)] || !t.counting.maps.Takes(name) {
		return
	}
	known[string(key)] = true
	t.Keys = append(t.Keys, Entry{name, bpfmap.Entry{Key: slices.Clone(key)}})
}

// Counts returns what the latest runs executed.
func (t *Target) Counts() *insn.Counts { return t.counting.meter.Counts() }

// Lines returns the lines of source in which blocks begin, each once.
func (t *Target) Lines(blocks Blocks) (all []bench.Source) {
	i := 0
	for _, p := range t.Programs() {
		for b := range p.Blocks {
			if i++; len(blocks) == 0 || !blocks.has(i-1) {
				continue
			}
			l := srcline.At(p, p.Blocks[b].Start)
			if l == nil || l.File == "" {
				continue
			}
			s := bench.Source{File: path.Clean(l.File), Line: l.Number, Function: bench.ClipName(l.Function)}
			if s.Check() == nil {
				all = unit.AppendNew(all, s)
			}
		}
	}
	return all
}

// Programs returns the programs of Counts and Alive.
func (t *Target) Programs() []*insn.Program { return t.counting.table.Programs }

// Retvals returns what the latest runs returned. The next run changes it.
func (t *Target) Retvals() []uint32 { return t.counting.retvals }

// MapType returns the type of a map.
func (t *Target) MapType(name string) ebpf.MapType { return t.counting.Coll.Maps[name].Type() }

// Remembers reports whether a run may find what another left, because the program has maps
// that it can change.
func (t *Target) Remembers() bool { return t.counting.maps.Len() > 0 }

// ValueSize returns the size of a map's values, in bytes.
func (t *Target) ValueSize(name string) int { return int(t.counting.Coll.Maps[name].ValueSize()) }

// Operands are what a conditional jump compared.
type Operands struct {
	Dst, Src uint64
	Constant bool // Src is in the instruction
	Word     bool // only the lower 32 bits matter
}

// Operands runs an input and returns what its jumps compared, each that was reached, as of
// the last time.
func (t *Target) Operands(ctx context.Context, in *Input) (all []Operands, err error) {
	f := t.logging
	if f == nil {
		return nil, nil
	}
	if err := f.reset(ctx); err != nil {
		return nil, err
	}
	err = f.run(in, func() { all = append(all, f.operands()...) })
	return all, err
}

// operands returns what the jumps compared in the latest run.
func (f *form) operands() (all []Operands) {
	if _, err := f.meter.Read(); err != nil {
		return nil
	}
	counts := f.meter.Counts()
	executed := map[string][]uint64{}
	for _, p := range f.table.Programs {
		executed[p.Name] = counts.Instructions(p.Name)
	}
	for i := range f.sites() {
		s := &f.log.Sites[i]
		if s.Map != "" || executed[s.Program][s.Index] == 0 {
			continue
		}
		o := Operands{}
		o.Dst, o.Src = f.log.Operands(s)
		ins := &f.table.Program(s.Program).Instructions[s.Index]
		if o.Word = ins.OpCode.Class() == asm.Jump32Class; ins.OpCode.Source() == asm.ImmSource {
			o.Constant, o.Src = true, uint64(ins.Constant)
		}
		all = append(all, o)
	}
	return all
}

// reset brings maps back to what they held.
func (f *form) reset(ctx context.Context) error {
	if f.careful {
		return f.maps.RestoreAll(ctx, math.MaxInt)
	}
	return f.maps.Restore(ctx)
}

// RefusedError says that the kernel does not run an input.
type RefusedError struct{ error }

func (e *RefusedError) Unwrap() error { return e.error }

func isRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}

// run runs an input, and calls after after each run, whose log has been read.
func (f *form) run(in *Input, after func()) error {
	for _, e := range in.Entries {
		f.maps.Put(e.Map, e.Entry)
	}
	if err := f.meter.Reset(); err != nil {
		return err
	}
	f.retvals = f.retvals[:0]
	if !progrun.TakesPackets(f.typ) {
		return f.once(in.Context, nil, after)
	}
	for _, packet := range in.Packets {
		if err := f.once(in.Context, packet, after); err != nil {
			return err
		}
	}
	return nil
}

func (f *form) once(given, packet []byte, after func()) error {
	in, err := progrun.One(f.typ, given, packet)
	if err != nil {
		return &RefusedError{err}
	}
	o := ebpf.RunOptions{Data: in.Data}
	if in.Context != nil {
		o.Context = in.Context
	}
	retval, err := f.Program.Run(&o)
	if err != nil {
		return &RefusedError{err}
	}
	f.retvals = append(f.retvals, retval)
	if f.log != nil {
		if err := f.log.Read(); err != nil {
			return err
		}
	}
	for s, key := range f.asked() {
		if _, times := f.log.Key(s); times > 1 {
			f.maps.TouchAll(s.Map) // only the last key is known
		} else {
			f.maps.Touch(s.Map, key)
		}
	}
	after()
	return nil
}

// sites returns what writes to the log.
func (f *form) sites() []insn.Site {
	if f.log == nil {
		return nil
	}
	return f.log.Sites
}

// asked yields the calls of the latest run that gave maps a key, with the last such key.
func (f *form) asked() iter.Seq2[*insn.Site, []byte] {
	return func(yield func(*insn.Site, []byte) bool) {
		for i := range f.sites() {
			s := &f.log.Sites[i]
			if s.Map == "" {
				continue
			}
			if key, times := f.log.Key(s); times > 0 && !yield(s, key) {
				return
			}
		}
	}
}

func (f *form) close() {
	if f.maps != nil {
		f.maps.Close()
	}
	_ = f.Close()
}

// Close unloads the program.
func (t *Target) Close() {
	for _, f := range []*form{t.counting, t.logging} {
		if f != nil {
			f.close()
		}
	}
}
