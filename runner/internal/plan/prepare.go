package plan

import (
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/workload/packet"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/progrun"
)

// Preparation is a program that fills maps before another one is measured.
type Preparation struct {
	Program string
	Runs    int
	Inputs  []progrun.Input
}

// addPreparations adds the programs that prepare the benchmark, and what they
// refer to, to the job's spec.
func (j *Job) addPreparations(o *object.Object, readFile func(string) ([]byte, error)) error {
	for _, p := range j.Prepare {
		if o.Entry(p.Program) == nil {
			return fmt.Errorf("the object has no program %q%s", p.Program, strictyaml.DidYouMean(p.Program, o.Programs()))
		}
		spec, _ := o.Program(p.Program)
		inputs, err := j.inputsOf(p, spec, readFile)
		if err != nil {
			return fmt.Errorf("program %s: %w", p.Program, err)
		}
		j.Preparations = append(j.Preparations, Preparation{p.Program, max(p.Runs, 1), inputs})
		// What the benchmark already has is changed as it asks for.
		j.Add(spec)
	}
	return nil
}

// Companion is a program that is attached beside the one that is measured.
type Companion struct {
	Program string
	Hook    *hook.Hook
}

// inputsOf returns the inputs of a preparation: its own, or those of the
// benchmark, or the default packet.
func (j *Job) inputsOf(p bench.Preparation, spec *ebpf.CollectionSpec, readFile func(string) ([]byte, error)) ([]progrun.Input, error) {
	by := bench.Benchmark{Program: p.Program, TestRun: &bench.TestRun{Packets: p.Packets, Context: p.Context}}
	job := &Job{Benchmark: &by, Spec: spec, Frames: j.Frames}
	if err := job.CheckDriver(); err != nil {
		return nil, err
	}
	if progrun.TakesPackets(job.ProgramSpec().Type) && (len(p.Packets) > 0 || len(j.Frames) == 0) {
		job.SetDefaults()
		var err error
		if job.Frames, err = packet.Expand(job.TestRun.Packets, readFile); err != nil {
			return nil, fmt.Errorf("packets: %w", err)
		}
	}
	return job.Inputs()
}

// Add adds what the job's spec lacks of another one.
func (j *Job) Add(spec *ebpf.CollectionSpec) {
	addMissing(j.Spec.Maps, spec.Maps)
	addMissing(j.Spec.Programs, spec.Programs)
	addMissing(j.Spec.Variables, spec.Variables)
}

func addMissing[V any](to, from map[string]V) {
	for name, v := range from {
		if _, ok := to[name]; !ok {
			to[name] = v
		}
	}
}
