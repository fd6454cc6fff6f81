// Package command attaches programs to hooks that a load makes the kernel reach.
package command

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/object"
	"github.com/org/ebpf-bench-action/internal/strictyaml"
	"github.com/org/ebpf-bench-action/internal/suite"
	"github.com/org/ebpf-bench-action/internal/workload/builtin"
	"github.com/org/ebpf-bench-action/runner/internal/hook"
	"github.com/org/ebpf-bench-action/runner/internal/plan"
)

func init() {
	plan.Register(bench.DriverCommand, &plan.Kind{
		Open:     open,
		Default:  takes,
		Check:    check,
		Prepare:  prepare,
		Alike:    func(j *plan.Job) string { return fmt.Sprintf("command %+v", *j.Command) },
		Busy:     true,
		InOthers: func(*plan.Job) bool { return true },
		NeverRan: neverRan,
	})
}

func takes(j *plan.Job) (bool, string) {
	p := j.ProgramSpec()
	if !hook.IsTracing(p.Type) {
		return false, ""
	}
	switch h, err := hook.Parse(p.SectionName); {
	case err != nil:
		return false, err.Error()
	case h.Takes(p.Type) != nil:
		return false, fmt.Sprintf("section %s does not fit the program's type, %s: name the hook with attach", p.SectionName, object.TypeName(p.Type))
	case h.InUser:
		return false, "only a command calls code in user space: say which by command: {run: [COMMAND]}"
	case j.CalledBy != "":
		return false, j.CalledBy + ": it is measured with the program that calls it"
	}
	return true, ""
}

func neverRan(j *plan.Job) string {
	if len(j.Command.Run) > 0 { // there is no load to choose
		return "nothing that the command does calls the hook: name another one by run, or another hook by attach"
	}
	return "nothing that the load does calls the hook: choose another by load, a system call by syscall, or a command by run"
}

// hookOf returns the hook that the job's program is attached to.
func hookOf(j *plan.Job) (*hook.Hook, error) {
	return hook.Parse(cmp.Or(j.Command.Attach, j.ProgramSpec().SectionName))
}

func check(j *plan.Job) error {
	if !hook.IsTracing(j.ProgramSpec().Type) {
		return errors.New("command drives tracing programs")
	}
	// A hook that cannot be read is not the type's fault.
	if h, err := hookOf(j); err == nil {
		return h.Takes(j.ProgramSpec().Type)
	}
	return nil
}

// checkLoad refuses a load that cannot trigger the hook.
func checkLoad(c *bench.Command, h *hook.Hook) error {
	switch {
	case h.Reads() && (c.Run != nil || c.Load != "" || c.Syscall != ""):
		return errors.New("an iterator is run by reading it: it takes neither run nor load")
	case h.InUser && c.Run == nil:
		return errors.New("only a command calls code in user space: say which by run, such as run: [/usr/bin/true]")
	case c.Syscall != "":
		return builtin.CheckSyscall(c.Syscall)
	}
	return nil
}

// prepare fills in what the suite leaves to the hook, aims the program at the hook, and
// adds the programs that are attached beside it.
func prepare(j *plan.Job, s *suite.Suite, o *object.Object) error {
	h, err := hookOf(j)
	if err != nil {
		return err
	}
	if err := checkLoad(j.Command, h); err != nil {
		return err
	}
	if j.CalledBy != "" {
		j.Warnings = append(j.Warnings, j.CalledBy+": here the program is measured on a hook of its own")
	}
	b, c := *j.Benchmark, *j.Command
	b.Command, j.Benchmark = &c, &b
	if c.Attach, err = h.Locate(s.LocalFile); err != nil {
		return err
	}
	if len(c.Run) > 0 && hook.IsLocal(c.Run[0]) {
		path, err := s.LocalFile(c.Run[0])
		if err != nil {
			return fmt.Errorf("run: %w", err)
		}
		c.Run = append([]string{path}, c.Run[1:]...)
	}
	setLoad(&c, h)
	if err := h.Aim(j.ProgramSpec()); err != nil {
		return err
	}
	return addCompanions(j, o)
}

// addCompanions adds the programs that are attached beside the benchmark's, and what they
// refer to, to the job's spec.
func addCompanions(j *plan.Job, o *object.Object) error {
	for _, name := range j.Command.With {
		entry := o.Entry(name)
		switch {
		case entry == nil:
			return fmt.Errorf("with: the object has no program %q%s", name, strictyaml.DidYouMean(name, o.Programs()))
		case name == j.Program:
			return fmt.Errorf("with: program %s is the one that is measured", name)
		}
		spec, _ := o.Program(name)
		p := spec.Programs[name]
		h, err := hook.Parse(p.SectionName)
		if err == nil {
			err = h.Takes(p.Type)
		}
		if err == nil && h.Reads() {
			err = errors.New("an iterator is not attached")
		}
		if err == nil {
			err = h.Aim(p)
		}
		if err != nil {
			return fmt.Errorf("with: program %s: %w", name, err)
		}
		j.Companions = append(j.Companions, plan.Companion{Program: name, Hook: h})
		j.Add(spec)
	}
	return nil
}

// setLoad chooses a load if the suite gives none.
func setLoad(c *bench.Command, h *hook.Hook) {
	switch {
	case h.Reads():
		c.Count = cmp.Or(c.Count, 1)
		return
	case c.Run != nil:
		return
	case c.Syscall != "":
		c.Load = bench.LoadSyscalls
	case c.Load == "":
		c.Load, c.Syscall = hook.LoadOf(h)
	}
	switch c.Load {
	case bench.LoadSyscalls:
		c.Syscall = cmp.Or(c.Syscall, "getppid")
		c.Count = cmp.Or(c.Count, 1000)
	case bench.LoadForks:
		c.Count = cmp.Or(c.Count, 20)
	case bench.LoadMixture:
		c.Count = cmp.Or(c.Count, 10)
	default:
		c.Count = cmp.Or(c.Count, 1000)
	}
}
