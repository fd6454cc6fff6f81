package plan

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
)

// PairJob is one benchmark on two sides. One of the jobs is nil if only the
// other side has the program.
type PairJob struct {
	Base, Head *Job
	// LooksLike is the name of the base's benchmark if it has another one: its
	// program looks like the head's.
	LooksLike string
	// Once measures the head alone, for both sides: see Identical.
	Once bool
}

// Identical reports whether both sides are the same: the same workload and, byte for byte,
// the same objects, or at least all that the kernel is given of them for this benchmark.
func (p PairJob) Identical() bool { return p.Base != nil && p.Head != nil && p.Base.equal(p.Head) }

func (j *Job) equal(o *Job) bool {
	return (bytes.Equal(j.Object.Data, o.Object.Data) || sameCode(j.Spec, o.Spec)) &&
		reflect.DeepEqual(j.replacing(), o.replacing()) &&
		reflect.DeepEqual(j.placeless(), o.placeless()) &&
		maps.EqualFunc(j.Globals, o.Globals, equal) && maps.EqualFunc(j.Maps, o.Maps, equal[bench.MapPrep]) &&
		reflect.DeepEqual(j.Frames, o.Frames) &&
		reflect.DeepEqual(j.Entries, o.Entries) &&
		reflect.DeepEqual(j.Preparations, o.Preparations)
}

// sameCode reports whether two specs have the same programs, with the types that relocations
// need, and the same maps with the same contents. Where lines are in the source, and what
// else an object holds, costs nothing.
func sameCode(a, b *ebpf.CollectionSpec) bool {
	return a.ByteOrder == b.ByteOrder &&
		maps.EqualFunc(a.Programs, b.Programs, sameProgram) &&
		maps.EqualFunc(a.Maps, b.Maps, equal[*ebpf.MapSpec])
}

func sameProgram(a, b *ebpf.ProgramSpec) bool {
	x, y := *a, *b
	x.Instructions, y.Instructions = nil, nil
	return reflect.DeepEqual(x, y) && slices.EqualFunc(a.Instructions, b.Instructions, func(x, y asm.Instruction) bool {
		return reflect.DeepEqual(x.WithSource(nil), y.WithSource(nil))
	})
}

func equal[V any](a, b V) bool { return reflect.DeepEqual(a, b) }

// replacing returns what replaces functions, wherever its objects are.
func (j *Job) replacing() []bench.Replaced {
	all := j.Replaced()
	for i := range all {
		all[i].Object = ""
	}
	return all
}

// placeless returns the benchmark without what is elsewhere in the job and without the
// paths of its objects.
func (j *Job) placeless() bench.Benchmark {
	b := *j.Benchmark
	b.Object, b.Replace, b.Globals, b.Maps = "", nil, nil, nil
	return b
}

// Name returns the benchmark's name.
func (p PairJob) Name() string {
	if p.Head != nil {
		return p.Head.Name
	}
	return p.Base.Name
}

// Pairs resolves every benchmark of a suite on two sides: with the objects of
// head and with those of base, which must otherwise be the same suite. Both
// sides have the same workload, whatever base was once measured with. Pairs
// needs no privileges and reports every problem that it finds, joined into one
// error.
func Pairs(headSuite, baseSuite *suite.Suite) ([]PairJob, error) {
	head, headErr := newSidePlan(headSuite)
	base, baseErr := newSidePlan(baseSuite)
	if baseErr != nil {
		baseErr = fmt.Errorf("base: %w", baseErr)
	}
	if err := errors.Join(headErr, baseErr); err != nil {
		return nil, err
	}
	var pairs []PairJob
	var errs []error
	for i := range headSuite.Benchmarks {
		b, baseErr := base.job(i)
		h, err := head.job(i)
		var missing *bpfmap.NoTargetError
		switch {
		case baseErr == nil:
		case errors.As(baseErr, &missing) && h != nil:
			// The change may well have added it.
			h.Warnings = append(h.Warnings, fmt.Sprintf("not compared: base: %s", baseErr))
		default:
			errs = append(errs, fmt.Errorf("base: %w", baseErr))
		}
		switch {
		case err != nil:
			errs = append(errs, err)
		case h == nil && b == nil:
			_, err := newJob(headSuite, head.objects, &headSuite.Benchmarks[i])
			errs = append(errs, err)
		}
		pairs = append(pairs, PairJob{Base: b, Head: h})
	}
	return pairs, errors.Join(errs...)
}

// NeitherHas returns the benchmarks of a suite whose programs are on neither
// side.
func NeitherHas(headSuite, baseSuite *suite.Suite) ([]string, error) {
	head, err := newSidePlan(headSuite)
	if err != nil {
		return nil, err
	}
	base, err := newSidePlan(baseSuite)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	var names []string
	for i := range headSuite.Benchmarks {
		if !head.has(i) && !base.has(i) {
			names = append(names, headSuite.Benchmarks[i].Name)
		}
	}
	return names, nil
}

// sidePlan resolves benchmarks on the objects of one side.
type sidePlan struct {
	suite   *suite.Suite
	objects map[string]*object.Object
}

func newSidePlan(s *suite.Suite) (*sidePlan, error) {
	objects, err := parseObjects(s.Objects)
	return &sidePlan{s, objects}, err
}

// has reports whether the side has a benchmark's program.
func (p *sidePlan) has(benchmark int) bool {
	_, err := findObject(p.suite, p.objects, &p.suite.Benchmarks[benchmark])
	var missing *noProgramError
	return !errors.As(err, &missing)
}

// job resolves a benchmark; it returns nil if the side lacks the program.
func (p *sidePlan) job(benchmark int) (*Job, error) {
	j, err := newJob(p.suite, p.objects, &p.suite.Benchmarks[benchmark])
	var missing *noProgramError
	if errors.As(err, &missing) {
		return nil, nil
	}
	return j, err
}
