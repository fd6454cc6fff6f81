package plan

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner/internal/bpfmap"
)

// Suites resolves the benchmarks of two suites, each on its own objects, and
// pairs those with the same name. Each side of a pair runs the program that its
// own suite names, and both use the head's workload: the workload of the base
// is not part of the change. A benchmark of only one suite is alone in its
// pair.
func Suites(headSuite, baseSuite *suite.Suite) ([]PairJob, error) {
	head, headErr := newSidePlan(headSuite)
	base, baseErr := newSidePlan(baseSuite)
	if baseErr != nil {
		baseErr = fmt.Errorf("base: %w", baseErr)
	}
	errs := []error{headErr, baseErr}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var pairs []PairJob
	inHead := map[string]bool{}
	for i := range headSuite.Benchmarks {
		b := &headSuite.Benchmarks[i]
		inHead[b.Name] = true
		job, err := newJob(headSuite, head.objects, b)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		pairs = append(pairs, PairJob{Base: base.jobLike(headSuite, job, job.Name), Head: job})
	}
	for i := range baseSuite.Benchmarks {
		if inHead[baseSuite.Benchmarks[i].Name] {
			continue
		}
		switch job, err := base.job(i); {
		case err != nil:
			errs = append(errs, fmt.Errorf("base: %w", err))
		case job != nil:
			pairs = append(pairs, PairJob{Base: job})
		}
	}
	return pairs, errors.Join(errs...)
}

// jobLike resolves the side's benchmark of that name, but with the workload of
// the other side's. It returns nil if the side has none. It also returns nil if
// this workload cannot drive it, and adds a warning to other: the change may
// well have made another kind of program of it.
func (p *sidePlan) jobLike(otherSuite *suite.Suite, other *Job, name string) *Job {
	i := slices.IndexFunc(p.suite.Benchmarks, func(b bench.Benchmark) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	own := &p.suite.Benchmarks[i]
	from, err := findObject(p.suite, p.objects, own)
	if err != nil {
		var missing *noProgramError
		if !errors.As(err, &missing) {
			other.Warnings = append(other.Warnings, fmt.Sprintf("not compared: base: %s", err))
		}
		return nil
	}
	b := *other.Benchmark
	b.Program, b.Object, b.Replace = own.Program, from.Path, own.Replace
	o := p.objects[from.Path]
	spec, _ := o.Program(b.Program, slices.Concat(own.MapPrograms(), b.MapPrograms())...)
	s := otherSuite.WithObjects(p.suite.Objects)
	// The values may include some for what a replacement adds.
	if err := (&Job{Benchmark: &b, Object: from, Spec: spec}).addReplacements(s, p.objects); err != nil {
		other.Warnings = append(other.Warnings, fmt.Sprintf("not compared: base: %s", err))
		return nil
	}
	var warnings []string
	b.Globals = valuesFor(own.Globals, other.Globals, "global", &warnings,
		func(name string) bool { return other.Spec.Variables[name] != nil },
		func(name string, v any) bool { return bpfmap.SetGlobals(spec.Copy(), map[string]any{name: v}) == nil })
	b.Maps = valuesFor(own.Maps, other.Maps, "map", &warnings,
		func(name string) bool { return other.Spec.Maps[name] != nil },
		func(name string, v bench.MapPrep) bool {
			_, err := bpfmap.Prepare(o, spec.Copy(), map[string]bench.MapPrep{name: v}, otherSuite.ReadFile)
			return err == nil
		})
	job, err := newJob(s, p.objects, &b)
	if err != nil {
		other.Warnings = append(other.Warnings, fmt.Sprintf("not compared: base: %s", err))
		return nil
	}
	job.Warnings = append(job.Warnings, warnings...)
	if others := p.otherSettings(i, job); len(others) > 0 {
		other.Warnings = append(other.Warnings, fmt.Sprintf("both sides have the head's %s: those of the base's suite differ", strings.Join(others, ", ")))
	}
	return job
}

// otherSettings returns the settings of a benchmark of the side's suite that are not those of
// the job in its place.
func (p *sidePlan) otherSettings(i int, job *Job) (names []string) {
	own, err := p.job(i)
	if own == nil || err != nil {
		return nil
	}
	is, was := reflect.ValueOf(withoutPackets(*job.Benchmark)), reflect.ValueOf(withoutPackets(*own.Benchmark))
	for n, field := range reflect.VisibleFields(is.Type()) {
		switch field.Name {
		case "Name", "Object", "Program", "Replace", "Budget":
		default:
			now, then := is.Field(n), was.Field(n)
			none := now.Kind() == reflect.Map && now.Len()+then.Len() == 0
			if !none && !reflect.DeepEqual(now.Interface(), then.Interface()) {
				names = append(names, field.Tag.Get("yaml"))
			}
		}
	}
	if !reflect.DeepEqual(job.Frames, own.Frames) {
		names = append(names, "packets")
	}
	return names
}

// withoutPackets returns a benchmark without its packets, of which several descriptions mean
// the same.
func withoutPackets(b bench.Benchmark) bench.Benchmark {
	if b.TestRun != nil {
		run := *b.TestRun
		run.Packets, b.TestRun = nil, &run
	}
	if b.Veth != nil {
		veth := *b.Veth
		veth.Packets, b.Veth = nil, &veth
	}
	return b
}

// valuesFor returns the values of globals or maps, by name, for one side if the
// other has some, too. They are the other's values, and the side's own for
// names that the other's program lacks or for which the other's do not fit: the
// change may well have renamed a map or widened a key.
func valuesFor[V any](own, other map[string]V, what string, warnings *[]string, has func(string) bool, fits func(string, V) bool) map[string]V {
	values := map[string]V{}
	for name, v := range own {
		if !has(name) {
			values[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(other)) {
		v, mine := own[name]
		switch {
		case fits(name, other[name]):
			values[name] = other[name]
		case mine && fits(name, v):
			values[name] = v
			*warnings = append(*warnings, fmt.Sprintf("base: %s %s has the value of the base's suite: the head's does not fit", what, name))
		default:
			*warnings = append(*warnings, fmt.Sprintf("base: without a value for %s %s: the head's does not fit its program", what, name))
		}
	}
	return values
}
