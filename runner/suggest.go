package runner

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/org/ebpf-bench-action/internal/suite"
)

// Suggest writes a suite for objects that have none: a benchmark for each
// program, with the workload that its type takes by default. others are
// objects whose programs get a benchmark too, such as those of another build,
// though the suite does not name the files.
func Suggest(objects, others []suite.Object) (string, error) {
	specs, err := parseObjects(objects)
	if err != nil {
		return "", err
	}
	otherSpecs, err := parseObjects(others)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("version: 1\nobjects:\n")
	for _, o := range objects {
		fmt.Fprintf(&text, "  - %s\n", strconv.Quote(o.Path))
	}
	text.WriteString("benchmarks:\n")
	for _, p := range slices.Concat(programsOf(objects, specs), without(programsOf(others, otherSpecs), programsOf(objects, specs))) {
		fmt.Fprintf(&text, "  - {name: %s, program: %s, %s%s: {}}\n", strconv.Quote(p.benchmark()), strconv.Quote(p.name), p.inObject(), suggestDriver(p.typ))
	}
	return text.String(), nil
}

// program is an entry program of an object.
type program struct {
	name   string
	object string
	typ    ebpf.ProgramType
	// ambiguous says that another object has a program of that name.
	ambiguous bool
}

func (p *program) benchmark() string {
	if p.ambiguous {
		return strings.TrimSuffix(path.Base(p.object), ".o") + "/" + p.name
	}
	return p.name
}

func (p *program) inObject() string {
	if p.ambiguous {
		return "object: " + strconv.Quote(p.object) + ", "
	}
	return ""
}

func programsOf(objects []suite.Object, specs map[string]*ebpf.CollectionSpec) []program {
	count := map[string]int{}
	var all []program
	for _, o := range objects {
		for _, name := range programNames(specs[o.Path]) {
			count[name]++
			all = append(all, program{name: name, object: o.Path, typ: specs[o.Path].Programs[name].Type})
		}
	}
	for i := range all {
		all[i].ambiguous = count[all[i].name] > 1
	}
	return all
}

// without lists the programs that are not among some others.
func without(programs, others []program) []program {
	return slices.DeleteFunc(programs, func(p program) bool {
		return slices.ContainsFunc(others, func(o program) bool { return o.benchmark() == p.benchmark() })
	})
}

// suggestDriver is the driver that a program's type takes. One that nothing
// drives is loaded all the same, for what the verifier and the JIT make of it.
func suggestDriver(t ebpf.ProgramType) string {
	switch {
	case t == ebpf.XDP, isSKB(t):
		return "test_run"
	case t == ebpf.PerfEvent:
		return "perf_event"
	}
	return "verify"
}
