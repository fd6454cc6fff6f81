package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/runner/internal/host"
)

// Replacement is a freplace program that takes the place of a function of the
// job's program. The job's spec contains it, too.
type Replacement struct {
	bench.Replaced
	// Key is its name in the job's spec.
	Key string
}

// addReplacements adds the programs that replace functions of the job's
// program, and what they refer to, to the job's spec.
func (j *Job) addReplacements(s *suite.Suite, objects map[string]*object.Object) error {
	errorf := func(format string, args ...any) error { return s.ErrorAt(j.Name, "replace", format, args...) }
	from := ownersOf(j.Spec, j.Object.Path)
	for _, r := range j.Replace {
		in := r.Object
		if in == "" && objects[j.Object.Path].Entry(r.Program) != nil {
			in = j.Object.Path
		}
		o, err := findProgram(s, objects, r.Program, in, errorf)
		if err != nil {
			return err
		}
		p := objects[o.Path].Entry(r.Program)
		if p.Type != ebpf.Extension {
			return errorf("program %s is of type %s: only a freplace program replaces a function", r.Program, object.TypeName(p.Type))
		}
		function := cmp.Or(r.Function, p.AttachTo)
		if function == "" {
			return errorf("section %s of program %s does not say which function it replaces: say it by function", p.SectionName, r.Program)
		}
		if i := slices.IndexFunc(j.Replacements, func(other Replacement) bool { return other.Function == function }); i >= 0 {
			return errorf("function %s is replaced by %s and by %s: it takes one", function, j.Replacements[i].Program, r.Program)
		}
		if slices.ContainsFunc(j.Replacements, func(other Replacement) bool { return other.Program == r.Program && other.Object == o.Path }) {
			return errorf("program %s is to replace two functions: it replaces one", r.Program)
		}
		if err := replaceable(j.ProgramSpec(), function); err != nil {
			err := bench.WithHint(errorf("%s", err), globalHint)
			if errors.Is(err, errNoFunction) {
				return &noProgramError{err}
			}
			return err
		}
		key, changes := from.addProgram(j.Spec, objects[o.Path], o.Path, r.Program)
		j.Spec.Programs[key].AttachTo = function
		for _, change := range changes {
			if !slices.Contains(j.Warnings, change) {
				j.Warnings = append(j.Warnings, change)
			}
		}
		j.Replacements = append(j.Replacements, Replacement{bench.Replaced{
			Function: function, Program: r.Program, Object: o.Path, ObjectSHA256: o.SHA256,
		}, key})
	}
	return nil
}

const globalHint = "a function that can be replaced is global (not static) and __noinline, and its object has types: clang -g"

// errNoFunction says that a program lacks the function to be replaced.
var errNoFunction = errors.New("no such function")

// replaceable returns why a function of a program cannot be replaced, or nil.
func replaceable(p *ebpf.ProgramSpec, function string) error {
	functions := functionsOf(p)
	linkage, ok := functions[function]
	switch {
	case len(functions) == 0:
		return fmt.Errorf("function %s of program %s cannot be replaced: the object has no types (BTF)", function, p.Name)
	case !ok:
		names := slices.Sorted(maps.Keys(functions))
		return host.Reword(errNoFunction, fmt.Sprintf("program %s has no function %q to replace, or it was inlined%s: there are %s", p.Name, function,
			strictyaml.DidYouMean(function, names), strings.Join(names, ", ")))
	case linkage != btf.GlobalFunc:
		return fmt.Errorf("function %s of program %s cannot be replaced: it is %s", function, p.Name, linkage)
	}
	return nil
}

// functionsOf returns the functions of a program, by their names in its BTF.
func functionsOf(p *ebpf.ProgramSpec) map[string]btf.FuncLinkage {
	all := map[string]btf.FuncLinkage{}
	for i := range p.Instructions {
		if fn := btf.FuncMetadata(&p.Instructions[i]); fn != nil {
			all[fn.Name] = fn.Linkage
		}
	}
	return all
}

// Replaced describes the replaced functions for results.
func (j *Job) Replaced() (all []bench.Replaced) {
	for _, r := range j.Replacements {
		all = append(all, r.Replaced)
	}
	return all
}

// ReplacesPart reports whether a program of the job's spec replaces a function
// that the job's program calls, and not its first function.
func (j *Job) ReplacesPart(program string) bool {
	return slices.ContainsFunc(j.Replacements, func(r Replacement) bool { return r.Key == program && r.Function != j.Function() })
}

// Reach returns the names of the programs and maps that runs of the job's
// program reach.
func (j *Job) Reach() map[string]bool {
	all := object.Reach(j.Spec, j.Program)
	for _, r := range j.Replacements {
		maps.Copy(all, object.Reach(j.Spec, r.Key))
	}
	return all
}
